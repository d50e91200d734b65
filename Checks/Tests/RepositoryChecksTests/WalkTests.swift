import Foundation
import Testing

@testable import RepositoryChecks

@Suite("Walks through the code")
struct WalkTests {
    private static let text = """
        # How?

        See [the index](README.md).

        ## Tag → SQL

        Begins at [a page](../Sources/Z.swift).

        1. [A](../Sources/A.swift): reads it.
        2. [B](../Sources/B.swift) and [a page](README.md): checks it.
        3. [A](../Sources/A.swift): stores it.

        ## Another way

        1. [C](../Sources/C.swift): stores it.

        ## What else

        Nothing in [D](../Sources/D.swift).
        """

    private func walks(_ path: String) -> [Walk] { Walk.all(in: [SourceFile(path: path, text: Self.text)]) }

    @Test("a walk has the Swift files that its steps link to, each counted once")
    func count() throws {
        let walk = try #require(walks(Walk.page).first)
        #expect(walk.name == "Tag → SQL")
        #expect(walk.fileCount == 2)
    }

    @Test("a section without steps is no walk")
    func sections() { #expect(walks(Walk.page).map(\.name) == ["Tag → SQL", "Another way"]) }

    @Test("a walk has the goal of its name, and another has none")
    func goals() { #expect(walks(Walk.page).map(\.goal) == [18, nil]) }

    @Test("another page has no walks")
    func otherPage() { #expect(walks("Documentation/Other.md").isEmpty) }

    @Test("the measures have a line for each walk, with its goal")
    func lines() {
        let plan = FloorPlan(floors: [:], neighbours: [:], allowedProducts: [:], forbidden: [:])
        let table = RepositoryMeasures(
            files: [SourceFile(path: Walk.page, text: Self.text)], packages: [], glossary: "", plan: plan
        ).table
        let lines = table.split(separator: "\n").filter { $0.hasPrefix("files on the walk") }
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("files on the walk Tag → SQL, at most 18  ") == true)
        #expect(lines.first?.hasSuffix("  2") == true)
    }

    @Test("a step that links to a file that is gone is a finding")
    func deadLink() {
        let page = SourceFile(path: Walk.page, text: Self.text)
        let paths = ["Documentation/README.md"] + ["A", "B", "C", "Z"].map { "Sources/\($0).swift" }
        #expect(
            LinkCheck().findings(in: [page], paths: paths).map(\.description)
                == ["Documentation/Walks.md:19: links to ../Sources/D.swift, which is not there"])
    }
}
