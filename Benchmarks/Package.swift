// swift-tools-version: 6.2
// Every figure of time and memory is measured here and nowhere else: a test that times fails on the wrong day.
//
// The driver has no dependencies; it measures programs from outside. Only `apns-load`, which is measured, contains the client.
// scripts/bench builds it with the flags of the server.
import PackageDescription

let package = Package(
    name: "clarion-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "clarion-server", path: "../Server"),
        .package(name: "clarion", path: ".."),
        // The server's versions, exact as there; scripts/check-packages looks.
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
    ],
    targets: [
        .executableTarget(name: "clarion-benchmarks"),
        .executableTarget(
            name: "hub-pages",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HubStorage", package: "clarion-server"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "RichPushModel", package: "clarion"),
            ]),
        .executableTarget(
            name: "access-costs",
            dependencies: [
                .product(name: "Access", package: "clarion-server"),
                .product(name: "Browsers", package: "clarion-server"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "RichPushModel", package: "clarion"),
            ]),
        .executableTarget(
            name: "hub-load", cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-O2", "-Wall", "-Wextra"])],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .executableTarget(
            name: "fetch-load", cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-O2", "-Wall", "-Wextra"])],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .executableTarget(
            name: "apns-load",
            dependencies: [
                .product(name: "APNsHTTP2", package: "clarion-server"),
                .product(name: "FCM", package: "clarion-server"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "RichPushModel", package: "clarion"),
            ]),
        .executableTarget(
            name: "apns-sink", cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(["-O2", "-Wall", "-Wextra"])],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("nghttp2")]),
    ],
    swiftLanguageModes: [.v6]
)
