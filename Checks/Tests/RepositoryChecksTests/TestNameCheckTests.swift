import RepositoryChecks
import Testing

@Suite("Tests that the page of findings names")
struct TestNameCheckTests {
    private static let files = [
        SourceFile(path: "Server/Tests/HubTests/RoomTests.swift", text: "@Suite(\"Rooms\")\nstruct DoorTests {\n}\n"),
        SourceFile(path: "Server/Sources/Conformance/QueuePromises+Order.swift", text: "extension QueuePromises {}"),
        SourceFile(path: "Server/Sources/Hub/Hub.swift", text: "struct HubGear {}"),
        SourceFile(path: "Server/Tests/Browser/page/everyday.py", text: "pass"),
        SourceFile(path: "scripts/check-deploy", text: "#!/bin/sh"),
    ]

    private func findings(_ rows: String) -> [String] {
        let page = SourceFile(path: TestNameCheck.page, text: "| Row | State | Test |\n| --- | --- | --- |\n\(rows)\n")
        return TestNameCheck().findings(in: [page] + Self.files).map(\.description)
    }

    @Test(
        "a type of a test target, a file by its name without the ending, the end of a path, and a script are there",
        arguments: ["DoorTests", "RoomTests", "QueuePromises+Order", "Tests/Browser/page/everyday.py", "scripts/check-deploy"])
    func known(name: String) {
        #expect(findings("| A | closed | `DoorTests`, `\(name)` |") == [])
    }

    @Test(
        "any other name is found with its row, also a type that no test target declares and the beginning of a name",
        arguments: ["WindowTests", "HubGear", "Door", "check-deploy.sh", "check"])
    func unknown(name: String) {
        #expect(
            findings("| A | closed | `DoorTests`, `\(name)` |") == [
                "Documentation/Findings.md:3: names the test \(name), and there is no such type of a test target and no such file"
            ])
    }

    @Test("a row that is closed names a test; an open one need not")
    func empty() {
        #expect(findings("| A | closed, not timed | |") == ["Documentation/Findings.md:3: A is closed and names no test"])
        #expect(findings("| A | **open** | |") == [])
    }

    @Test("names in other columns and other tables are not looked for")
    func elsewhere() {
        #expect(
            findings("| A `NoTests` | closed `NoTests` | `DoorTests` |\n\n| What | Test |\n| --- | --- |\n| A | `NoTests` |")
                == [])
        #expect(TestNameCheck().findings(in: Self.files) == [])
    }
}
