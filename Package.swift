// swift-tools-version: 6.0
// The SDK: what an app adds to its project. The server is a package of its own in Server/, so that an app which
// depends on this one resolves nothing of the server. Targets are sorted by floor, each with its tests.
import PackageDescription

/// In the repository's own checks warnings are errors. Only for this package's targets, and only when asked for: an app that
/// depends on the SDK may have a newer compiler with new warnings, and could not use a package with unsafe flags at all.
let house: [SwiftSetting] =
    Context.environment["CLARION_SDK_WARNINGS_AS_ERRORS"] == "1" ? [.unsafeFlags(["-warnings-as-errors"])] : []

/// What each product says of the data that it collects. Only Apple's tools read it; on Linux a resource would give the server a
/// folder to carry along.
#if os(Linux)
    let privacy: [Resource] = []
    let unread = ["PrivacyInfo.xcprivacy"]
#else
    let privacy: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
    let unread: [String] = []
#endif

let package = Package(
    name: "clarion",
    defaultLocalization: "en",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "RichPushModel", targets: ["RichPushModel"]),
        // For senders of end-to-end encrypted notifications; an app needs it only to send.
        .library(name: "RichPushSealing", targets: ["RichPushSealing"]),
        .library(name: "RichPushDevice", targets: ["RichPushDevice"]),
        .library(name: "RichPushApp", targets: ["RichPushApp"]),
        .library(name: "RichPushUI", targets: ["RichPushUI"]),
        .library(name: "RichPushActivities", targets: ["RichPushActivities"]),
        .library(name: "RichPushExtension", targets: ["RichPushExtension"]),
        .library(name: "RichPushContentExtension", targets: ["RichPushContentExtension"]),
    ],
    dependencies: [
        // Hashing and keys on Linux; on Apple's systems CryptoKit is used and this is not built. A range on purpose, unlike in every
        // other manifest here: an app that depends on this library chooses one version for all its packages.
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0")
    ],
    targets: [
        // Floor 0
        .target(name: "RichPushModel", exclude: unread, resources: privacy, swiftSettings: house),
        .testTarget(name: "RichPushModelTests", dependencies: ["RichPushModel"], swiftSettings: house),
        // Floor 1
        .target(
            name: "RichPushSealing",
            dependencies: [
                "RichPushModel",
                .product(name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux])),
            ], exclude: unread, resources: privacy, swiftSettings: house),
        .testTarget(name: "RichPushSealingTests", dependencies: ["RichPushModel", "RichPushSealing"], swiftSettings: house),
        // Floor 2
        .target(
            name: "RichPushDevice",
            dependencies: [
                "RichPushModel", "RichPushSealing",
                .product(name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux])),
            ], exclude: unread, resources: privacy, swiftSettings: house),
        .testTarget(
            name: "RichPushDeviceTests", dependencies: ["RichPushDevice", "RichPushModel", "RichPushSealing"],
            swiftSettings: house),
        // Floor 3: the Apple face, empty on other systems; Verification/AppleStandIns compiles and runs it on Linux.
        .target(
            name: "RichPushPlatform", dependencies: ["RichPushDevice", "RichPushModel"],
            resources: [.process("Resources"), .copy("PrivacyInfo.xcprivacy")], swiftSettings: house),
        .target(
            name: "RichPushExtension", dependencies: ["RichPushPlatform", "RichPushDevice", "RichPushModel"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: house),
        .target(
            name: "RichPushContentExtension", dependencies: ["RichPushPlatform", "RichPushModel"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: house),
        .target(
            name: "RichPushApp", dependencies: ["RichPushPlatform", "RichPushDevice", "RichPushModel"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: house),
        .target(
            name: "RichPushActivities", dependencies: ["RichPushPlatform", "RichPushDevice", "RichPushModel"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: house),
        .target(
            name: "RichPushUI", dependencies: ["RichPushApp", "RichPushPlatform", "RichPushDevice", "RichPushModel"],
            resources: [.process("Resources"), .copy("PrivacyInfo.xcprivacy")], swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)
