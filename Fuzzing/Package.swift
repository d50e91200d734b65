// swift-tools-version: 6.2
// One libFuzzer program for every reader of the server that gets bytes from a network or an upload. scripts/fuzz builds and runs it;
// without its flags it has no `main`.
import PackageDescription

let package = Package(
    name: "clarion-fuzzing",
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
        .executableTarget(
            name: "clarion-fuzz",
            dependencies: [
                .product(name: "Readers", package: "clarion-server"),
                .product(name: "RichPushModel", package: "clarion"),
                .product(name: "RichPushSealing", package: "clarion"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")])
    ],
    swiftLanguageModes: [.v6]
)
