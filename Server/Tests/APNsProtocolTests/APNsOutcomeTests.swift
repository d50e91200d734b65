import APNsProtocol
import Foundation
import Testing

@Suite("Outcomes for callers")
struct APNsOutcomeTests {
    @Test("an accepted push hands over its id, and every other outcome is thrown as it is")
    func accepted() throws {
        let id = UUID()
        #expect(try APNsOutcome.accepted(apnsID: id, uniqueID: nil).accepted() == id)
        let others: [APNsOutcome] = [
            .rejected(APNsRejection(status: 410, reason: .unregistered, timestamp: 5)), .notSent(.unreachable),
            .unknown(.deadline),
        ]
        for outcome in others {
            #expect(!outcome.isAccepted)
            #expect(throws: APNsNotAccepted(outcome: outcome)) { try outcome.accepted() }
        }
        #expect(others.map { APNsNotAccepted(outcome: $0).isSafeToRepeat } == [false, true, false])
        #expect(
            others.map { "\(APNsNotAccepted(outcome: $0))" } == [
                "APNs refused the push: 410 Unregistered", "the push was not sent: unreachable",
                "it is not known whether APNs took the push: deadline",
            ])
    }
}
