import Foundation
import Testing

@Suite("The page about access")
struct AccessPageTests {
    /// With `CLARION_RENEW_DOCUMENTATION=1` in the environment the page is written instead of compared.
    @Test("Documentation/Access.md is made from the access table and the routes")
    func pageIsFresh() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appending(path: "Documentation/Access.md")
        let bench = try await BackendBench()
        let markdown = AccessPage(routes: bench.accessRoutes, open: bench.openRoutes).markdown
        if ProcessInfo.processInfo.environment["CLARION_RENEW_DOCUMENTATION"] == "1" {
            try markdown.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: page, encoding: .utf8) == markdown)
    }
}
