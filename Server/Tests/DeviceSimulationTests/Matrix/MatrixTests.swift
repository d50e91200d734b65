import Testing

@Suite("The delivery matrix: 7 states × 3 pushes × 9 troubles × 4 acts")
struct MatrixTests {
    struct Part: CustomTestStringConvertible {
        var state: Cell.State
        var push: Cell.Push
        var testDescription: String { "\(state) × \(push)" }

        static let all = Cell.State.allCases.flatMap { state in Cell.Push.allCases.map { Part(state: state, push: $0) } }
    }

    @Test("there are 756 cells, and no two are the same")
    func count() {
        #expect(Set(Part.all.flatMap { Cell.all($0.state, $0.push) }).count == 756)
    }

    @Test("each cell shows, reports and answers what it must", arguments: Part.all)
    func cells(part: Part) async throws {
        for cell in Cell.all(part.state, part.push) { try await CellRun(cell).play() }
    }
}
