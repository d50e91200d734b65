import RepositoryChecks
import Testing

@Suite("Budget")
struct BudgetTests {
    private func budget(_ text: String = "# A note.\n3 word told\n") throws -> Budget { try Budget(text) }

    @Test("a count above its budget is found, one at it is not")
    func above() throws {
        #expect(try budget().findings(for: ["word told": 3]).isEmpty)
        #expect(try budget().findings(for: ["word told": 4]).count == 1)
    }

    @Test("what has no line has a budget of nothing")
    func absent() throws {
        #expect(try budget().findings(for: ["word told": 0, "word mend": 1]).count == 1)
    }

    @Test("a line for what is not counted is found")
    func stale() throws {
        #expect(try budget().findings(for: [:]).count == 1)
    }

    @Test("a count below its budget is no finding but a notice")
    func below() throws {
        #expect(try budget().findings(for: ["word told": 2]).isEmpty)
        #expect(try budget().notices(for: ["word told": 2]).count == 1)
        #expect(try budget().notices(for: ["word told": 3]).isEmpty)
    }

    @Test("lowering takes what has fallen and raises nothing")
    func lowered() throws {
        let text = "# A note.\n3 word told\n5 word mend\n1 word gone\n"
        let counts = ["word told": 2, "word mend": 9, "word gone": 0]
        #expect(try budget(text).lowered(to: counts) == "# A note.\n5 word mend\n2 word told\n")
    }

    @Test("a line without a number, and a name that comes twice, are refused")
    func malformed() {
        #expect(throws: Budget.Malformed.self) { try Budget("word told\n") }
        #expect(throws: Budget.Malformed.self) { try Budget("1 word told\n2 word told\n") }
    }
}
