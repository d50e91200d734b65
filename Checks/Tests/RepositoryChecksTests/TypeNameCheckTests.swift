import RepositoryChecks
import Testing

@Suite("Type names")
struct TypeNameCheckTests {
    /// What is found about a type that another module declares too.
    private func findings(_ text: String, at path: String = "Server/Sources/PushHub/Hubs/Page.swift") -> [String] {
        let other = SourceFile(path: "Server/Sources/AppBackend/Page.swift", text: "/// Text.\nstruct Page {\n}\n")
        return TypeNameCheck().findings(in: [other, SourceFile(path: path, text: text)]).map(\.description)
    }

    @Test(
        "a type name that another module declares is found, whatever kind of type it is",
        arguments: [
            "struct Page {}", "public final class Page: Sendable {}", "indirect enum Page<Key> {}", "actor Page {}",
            "public protocol Page {}", "typealias Page = Int", "@MainActor public struct Page {}",
        ])
    func found(declaration: String) {
        #expect(
            findings(declaration) == ["Server/Sources/PushHub/Hubs/Page.swift:1: Page is also the name of a type in AppBackend"])
    }

    @Test(
        "modules of the server, of the lab and of the SDK share one list of names",
        arguments: ["Server/Lab/PushHub/Page.swift", "Sources/PushHub/Page.swift"])
    func roots(path: String) {
        #expect(findings("\n\nstruct Page {}", at: path) == ["\(path):3: Page is also the name of a type in AppBackend"])
    }

    @Test(
        "a type of one file, a nested type, an extension and a mention are free",
        arguments: [
            "private struct Page {}", "fileprivate enum Page {}", "enum Book {\n    struct Page {}\n}", "extension Page {}",
            "// struct Page {}", "let text = \"struct Page {}\"", "func turn(Page: class Page) {}",
        ])
    func free(text: String) {
        #expect(findings(text).isEmpty)
    }

    @Test("after a type that ends, the next one is at the top level again")
    func depth() {
        #expect(findings("struct Book {\n    var x = \"}\"\n}\n\nstruct Page {}").count == 1)
    }

    @Test("two files of one module, and a test, may name a type alike")
    func sameModule() {
        #expect(findings("struct Page {}", at: "Server/Sources/AppBackend/Other.swift").isEmpty)
        #expect(findings("struct Page {}", at: "Server/Tests/PushHubTests/Page.swift").isEmpty)
    }
}
