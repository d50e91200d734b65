// swift-tools-version: 6.0
// The SDK: what an app adds to its project. The server is a package of its own in Server/, so that an app which
// depends on this one resolves nothing of the server. Targets are sorted by floor, each with its tests.
import PackageDescription

let package = Package(
    name: "clarion",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "RichPushModel", targets: ["RichPushModel"]),
        .library(name: "RichPushDevice", targets: ["RichPushDevice"]),
    ],
    dependencies: [
        // Hashing and keys on Linux; on Apple's systems CryptoKit is used and this is not built.
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0")
    ],
    targets: [
        // Floor 0
        .target(name: "RichPushModel"),
        .testTarget(name: "RichPushModelTests", dependencies: ["RichPushModel"]),
        // Floor 2
        .target(
            name: "RichPushDevice",
            dependencies: [
                "RichPushModel",
                .product(name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux])),
            ]),
        .testTarget(name: "RichPushDeviceTests", dependencies: ["RichPushDevice", "RichPushModel"]),
    ],
    swiftLanguageModes: [.v6]
)
