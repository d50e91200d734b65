import Foundation
import Testing

@testable import RepositoryChecks

@Suite("Measures")
struct RepositoryMeasuresTests {
    private static let plan = FloorPlan(
        floors: ["Low": 0, "High": 1, "Support": FloorPlan.testSupportFloor], neighbours: [:], allowedProducts: [:],
        forbidden: [:])

    @Test(
        "a Swift file belongs to the area of its folder, and to test support by the floor of its target",
        arguments: [
            ("Server/Sources/Low/A.swift", SourceArea.product), ("Server/Sources/Support/A.swift", .testSupport),
            ("Server/Lab/High/B/A.swift", .lab), ("Sources/Low/A.swift", .sdk),
            ("Server/Tests/LowTests/A.swift", .tests), ("Tests/LowTests/A.swift", .tests),
        ])
    func areas(path: String, area: SourceArea) {
        #expect(SourceArea(path: path, plan: Self.plan) == area)
    }

    @Test(
        "pages, manifests and the packages beside the product belong to no area",
        arguments: ["Server/Sources/Low/A.md", "Server/Package.swift", "Checks/Sources/A/A.swift", "Apps/A/Sources/A.swift"])
    func noArea(path: String) {
        #expect(SourceArea(path: path, plan: Self.plan) == nil)
    }

    @Test("a line is code or a comment, and a blank one is neither")
    func lines() {
        let text = """
            /// A comment.
            let x = 1  // code

            /* a comment
               of three lines

            */ let y = 2
            """
        let count = LineCount([SourceFile(path: "A.swift", text: text + "\n")])
        #expect(count.total == 7)
        #expect(count.code == 2)
        #expect(count.comments == 3)
    }

    @Test("the text of a string is code, also where it looks like a comment")
    func strings() {
        let text = "let x = \"\"\"\n    // text\n    text\n    \"\"\"\nlet y =\n    \"text\"\n"
        let count = LineCount([SourceFile(path: "A.swift", text: text)])
        #expect(count.code == 6)
        #expect(count.comments == 0)
    }

    @Test("the median and the percentile of an even count are its upper neighbours")
    func distribution() {
        let distribution = Distribution([10, 1, 9, 2, 8, 3, 7, 4, 6, 5])
        #expect(distribution?.count == 10)
        #expect(distribution?.median == 6)
        #expect(distribution?.percentile90 == 10)
        #expect(distribution?.maximum == 10)
        #expect(Distribution([]) == nil)
    }

    @Test("the lines of functions are those that the size check counts")
    func functions() {
        let text = "func a() {\n}\nfunc b() {\n    work()\n    work()\n}\n"
        #expect(SizeCheck().functionLengths(of: [SourceFile(path: "A.swift", text: text)]) == Distribution([2, 4]))
    }

    /// The rows of the table as their words, by the beginning of their names.
    private func row(_ name: String) throws -> [Substring] {
        let files = [
            SourceFile(path: "Server/Sources/Low/A.swift", text: "// A campaign follows a campaign.\nstruct A {}\n"),
            SourceFile(
                path: "Server/Sources/High/B.swift", text: "struct A {}\nfunc b() {\n}\n" + String(repeating: "\n", count: 20)),
            SourceFile(path: "Server/Tests/LowTests/C.swift", text: "// Reference" + "/None.md#1\n"),
        ]
        let manifest = """
            {"name": "clarion-server", "targets": [
                {"name": "Low", "type": "regular", "dependencies": []},
                {"name": "High", "type": "regular", "dependencies": [{"byName": ["Low", null]}, {"product": ["NIO", "nio"]}]},
                {"name": "HighTests", "type": "test", "dependencies": [{"byName": ["Low", null]}, {"byName": ["High", null]}]}
            ]}
            """
        let measures = RepositoryMeasures(
            files: files, packages: [try JSONDecoder().decode(PackageManifest.self, from: Data(manifest.utf8))],
            glossary: "| Write | Not this |\n| --- | --- |\n| send | campaign |\n", plan: Self.plan)
        let line = try #require(measures.table.split(separator: "\n").first { $0.hasPrefix(name) })
        return line.dropFirst(name.count).split(separator: " ")
    }

    @Test("sizes have a column for each area and one for all of them")
    func sizes() throws {
        #expect(try row("lines  ") == ["25", "0", "0", "0", "1", "26"])
        #expect(try row("lines of comments") == ["1", "0", "0", "0", "1", "2"])
        #expect(try row("files  ") == ["2", "0", "0", "0", "1", "3"])
        #expect(try row("files of 20 lines or fewer") == ["1", "0", "0", "0", "1", "2"])
        #expect(try row("lines of a function, maximum") == ["2", "0", "0", "0", "0", "2"])
    }

    @Test("the counts of the other checks have one value")
    func counts() throws {
        #expect(try row("words that the glossary rules out") == ["2"])
        #expect(try row("citations that lead nowhere") == ["1"])
        #expect(try row("uses between folders allowed to form a circle") == ["0"])
        #expect(try row("type names declared in two modules") == ["1"])
    }

    @Test("a target uses the targets of the plan, without those of its tests and products of others")
    func targets() throws {
        #expect(try row("targets that use more than 18 targets") == ["0"])
        #expect(try row("most targets used by one: High") == ["1"])
        #expect(try row("lines of the largest target: High") == ["23"])
    }
}
