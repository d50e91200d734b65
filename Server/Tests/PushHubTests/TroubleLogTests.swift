import ClarionTesting
import ServiceErrors
import Testing

@testable import PushHub

@Suite("The log of a trouble")
struct TroubleLogTests {
    private func logged(_ notes: LogNotes) -> [String] { notes.lines.map { "\($0.level) \($0.message)" } }

    @Test("it is logged when it begins and when it is over, however often it fails meanwhile")
    func once() {
        let notes = LogNotes()
        let trouble = TroubleLog("The queue cannot be read", logger: notes.logger)
        trouble.succeeded()
        #expect(notes.lines.isEmpty)
        for _ in 1...2 {
            for _ in 1...50 { trouble.failed(ServiceError(.storageUnavailable)) }
            for _ in 1...3 { trouble.succeeded() }
        }
        let expected = ["warning The queue cannot be read", "notice Over: The queue cannot be read"]
        #expect(logged(notes) == expected + expected)
    }

    @Test("another reason is logged too, up to a limit")
    func reasons() {
        let notes = LogNotes()
        let trouble = TroubleLog("The queue cannot be read", logger: notes.logger)
        for _ in 1...3 {
            trouble.failed(ServiceError(.storageUnavailable))
            trouble.failed(ServiceError(.notReady, "another version has taken over"))
        }
        #expect(notes.lines.count == 2)
        for number in 1...100 { trouble.failed(ServiceError(.notReady, "reason \(number)")) }
        #expect(notes.lines.count == 8)
        trouble.succeeded()
        #expect(logged(notes).last == "notice Over: The queue cannot be read")
    }
}
