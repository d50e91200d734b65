// swift-tools-version: 6.0
// For Linux only, and no part of what an app gets: modules with the names of Apple's, written from Apple's documentation, and
// through links the sources that ship. They compile and run against each other; Documentation/WithoutAMac.md says what that proves.
import PackageDescription

/// How the stand-ins read Apple's documentation; see scripts/check-apple.
let reading: [SwiftSetting] = (Context.environment["STAND_INS"] ?? "").split(separator: ",").map { .define(String($0)) }
let house: [SwiftSetting] = [.unsafeFlags(["-warnings-as-errors"])]

func standIn(_ name: String, _ dependencies: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies.map { .byName(name: $0) }, path: "StandIns/\(name)", swiftSettings: reading)
}

func shipped(_ name: String, _ dependencies: [String], _ resources: [Resource] = []) -> Target {
    .target(
        name: name, dependencies: dependencies.map { .byName(name: $0) }, path: "Shipped/\(name)", resources: resources,
        swiftSettings: house)
}

let notifications = ["UIKit", "UserNotifications", "AppleFoundationShims"]
let manifest = Resource.copy("PrivacyInfo.xcprivacy")

let package = Package(
    name: "apple-stand-ins",
    defaultLocalization: "en",
    targets: [
        standIn("AppleFoundationShims"), standIn("CryptoKit"), standIn("Security", ["AppleFoundationShims"]),
        standIn("ImageIO"), standIn("UIKit", ["AppleFoundationShims", "ImageIO"]),
        standIn("UserNotifications", ["AppleFoundationShims"]),
        standIn("UserNotificationsUI", ["UIKit", "UserNotifications"]), standIn("BackgroundTasks", ["AppleFoundationShims"]),
        standIn("Combine"), standIn("SwiftUI", ["Combine", "UIKit"]), standIn("AVKit", ["SwiftUI"]),
        standIn("ActivityKit", ["AppleFoundationShims"]), standIn("WidgetKit", ["AppleFoundationShims"]),
        standIn("_Testing_UIKit"),
        standIn("_Testing_SwiftUI"),
        shipped("RichPushModel", [], [manifest]),
        shipped("RichPushSealing", ["RichPushModel", "CryptoKit"], [manifest]),
        shipped("RichPushDevice", ["RichPushModel", "RichPushSealing", "CryptoKit"], [manifest]),
        shipped(
            "RichPushPlatform", ["RichPushDevice", "RichPushModel", "Security", "ImageIO"] + notifications,
            [.process("Resources"), manifest]),
        shipped("RichPushExtension", ["RichPushPlatform", "RichPushDevice", "RichPushModel"] + notifications, [manifest]),
        shipped(
            "RichPushContentExtension", ["RichPushPlatform", "RichPushModel", "UserNotificationsUI"] + notifications, [manifest]),
        shipped(
            "RichPushApp", ["RichPushPlatform", "RichPushDevice", "RichPushModel", "BackgroundTasks", "Combine"] + notifications,
            [manifest]),
        shipped(
            "RichPushActivities",
            ["RichPushPlatform", "RichPushDevice", "RichPushModel", "UIKit", "ActivityKit", "WidgetKit", "AppleFoundationShims"],
            [manifest]),
        shipped(
            "RichPushUI", ["RichPushApp", "RichPushPlatform", "RichPushDevice", "RichPushModel", "SwiftUI", "AVKit"],
            [.process("Resources"), manifest]),
        .testTarget(
            name: "AdapterTests",
            dependencies: [
                "RichPushActivities", "RichPushApp", "RichPushUI", "RichPushExtension", "RichPushContentExtension",
                "_Testing_UIKit",
                "_Testing_SwiftUI", "BackgroundTasks", "Security",
                "CryptoKit", "ImageIO", "RichPushPlatform", "RichPushSealing",
            ], path: "Tests/AdapterTests", swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)
