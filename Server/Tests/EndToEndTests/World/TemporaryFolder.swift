import Foundation

/// A folder for one test, removed afterwards.
enum TemporaryFolder {
    static func use<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (_ path: String) async throws -> Result
    ) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appending(path: "clarion-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }
}
