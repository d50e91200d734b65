// swift-tools-version: 6.0
// What the compiler does not check about this repository. No dependencies, so that it builds in seconds.
import PackageDescription

let package = Package(
    name: "checks",
    platforms: [.macOS(.v13)],
    targets: [
        .target(name: "RepositoryChecks"),
        .executableTarget(name: "checks", dependencies: ["RepositoryChecks"]),
        .testTarget(name: "RepositoryChecksTests", dependencies: ["RepositoryChecks"]),
    ],
    swiftLanguageModes: [.v6]
)
