/// The part of the repository that a Swift file belongs to.
enum SourceArea: String, CaseIterable, Sendable {
    case product
    case lab
    case sdk = "SDK"
    case testSupport = "test support"
    case tests

    /// The area of a path; `nil` for pages, manifests, and the packages of checks, benchmarks, fuzzing and the demo app.
    init?(path: String, plan: FloorPlan) {
        guard path.hasSuffix(".swift"), let folder = Self.folders.first(where: { path.hasPrefix($0.path) }) else { return nil }
        let module = path.dropFirst(folder.path.count).prefix { $0 != "/" }
        self = plan.floors[String(module)] == FloorPlan.testSupportFloor ? .testSupport : folder.area
    }

    private static let folders: [(path: String, area: SourceArea)] = [
        ("Server/Sources/", .product), ("Server/Lab/", .lab), ("Server/Tests/", .tests), ("Sources/", .sdk), ("Tests/", .tests),
    ]
}
