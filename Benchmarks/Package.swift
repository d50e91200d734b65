// swift-tools-version: 6.0
// Every figure of time and memory is measured here and nowhere else: a test that times fails on the wrong day. No dependencies; it
// measures the built program from outside.
import PackageDescription

let package = Package(
    name: "clarion-benchmarks",
    platforms: [.macOS(.v13)],
    targets: [.executableTarget(name: "clarion-benchmarks")],
    swiftLanguageModes: [.v6]
)
