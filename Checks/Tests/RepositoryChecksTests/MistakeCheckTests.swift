import Testing

@testable import RepositoryChecks

@Suite("Deliberate mistakes")
struct MistakeCheckTests {
    private static let text = """
        # A remark.
        complaint 7: the first answer is not waited for
        group 2
        fails Suite.one Suite.two
        file a.swift
        --- was
            wait()
        --- becomes
        --- end
        file b.swift
        --- was
        return 1
        --- becomes
        return 2
        --- end
        """

    private static let page = "| 7 | … | `Suite.one` |"
    private static let tests = "func one() {} func two() {}"

    private func sources(_ file: String) -> String? {
        ["a.swift": "begin()\n    wait()\nend()", "b.swift": "return 1"][file]
    }

    private func check(_ text: String = text) throws -> MistakeCheck { MistakeCheck(try MistakeList(text).mistakes) }

    @Test("a list is read, and its mistakes are made in the files")
    func list() throws {
        let check = try check()
        #expect(check.mistakes.map(\.complaint) == [7])
        #expect(check.groups == [2])
        #expect(check.tests == ["Suite.one", "Suite.two"])
        #expect(check.mistaken(group: 2, text: sources) == ["a.swift": "begin()\n\nend()", "b.swift": "return 2"])
        #expect(check.mistaken(group: 2) { _ in "return 1" } == nil, "a text that is not there")
    }

    @Test(
        "what is not of the format is named with its line",
        arguments: ["group 1", "complaint 7: a b\nnonsense", "complaint x: a b"])
    func format(text: String) { #expect(throws: MistakeList.Fault.self) { try MistakeList(text) } }

    @Test("a list that fits has no findings but for the complaints it leaves out")
    func fits() throws {
        let findings = try check().findings(page: Self.page, text: sources, tests: Self.tests)
        #expect(findings.count == 25)
        #expect(findings.allSatisfy { $0.sentence == "no mistake is made for it" })
    }

    @Test("a list that no longer fits the sources, the tests or the page is found out")
    func rot() throws {
        let check = try check()
        func extra(page: String = MistakeCheckTests.page, tests: String = MistakeCheckTests.tests, _ text: (String) -> String?)
            -> Int
        {
            check.findings(page: page, text: text, tests: tests).count - 25
        }
        #expect(extra { _ in "return 1 return 1" } == 2, "a text that is there twice is none")
        #expect(extra(tests: "func one() {}", sources) == 1)
        #expect(extra(page: "| 7 | … | `Suite.other` |", sources) == 1)
    }

    @Test("exactly the named tests must fail")
    func verdict() throws {
        let check = try check()
        #expect(check.verdict(group: 2, passed: [], failed: ["Suite.one", "Suite.two"]).isEmpty)
        #expect(check.verdict(group: 2, passed: ["Suite.two"], failed: ["Suite.one"]).count == 1)
        #expect(check.verdict(group: 2, passed: [], failed: ["Suite.one"]).count == 1, "a test that was not run")
        #expect(check.verdict(group: 2, passed: [], failed: ["Suite.one", "Suite.two", "Suite.three"]).count == 1)
    }

    @Test("a report says which tests failed, with arguments and without")
    func report() {
        let report = TestReport(
            """
            <testcase classname="Tests.Suite" name="one()" time="1"><failure message="x" /></testcase>
            <testcase classname="Tests.Suite" name="two(count:)" time="1" />
            <testcase classname="Tests.Suite" name="three()" time="1" />
            <testcase classname="Tests.Suite" name="three()" time="1"><failure message="x" /></testcase>
            """)
        #expect(report.failed == ["Suite.one", "Suite.three"])
        #expect(report.passed == ["Suite.two"])
    }
}
