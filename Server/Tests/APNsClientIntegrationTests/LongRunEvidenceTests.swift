import APNsProtocol
import Foundation
import RichPushModel
import Testing

@testable import APNsEmulation
@testable import APNsHTTP2

@Suite("The judge of a long run")
struct LongRunEvidenceTests {
    private let evidence = LongRunEvidence()
    private let ids = (0..<4).map { _ in UUID() }

    /// Writes the pushes on one connection, and lets the local APNs judge all but the last one, with these faults.
    private func run(_ faults: [Int: InjectedFault] = [:]) {
        for (index, id) in ids.enumerated() {
            let stream = 2 * index + 1
            evidence.clientDidSend(
                APNsRequestReport(apnsID: id, fields: [], payloadSize: 2, connection: 1, stream: stream, isResend: false))
            guard index < ids.count - 1 else { return }
            evidence.note(
                APNsExchange(
                    connection: 7, stream: stream, receivedAt: Timestamp(seconds: 0), method: "POST", path: "",
                    headers: [.init(name: "apns-id", value: APNsUUID.text(id))], payloadSize: 2, payload: [],
                    fault: faults[index]))
        }
    }

    private func contradictions(_ outcomes: [Int: APNsOutcome]) -> Int {
        let pushes = ids.enumerated().map { index, id in
            LongRunEvidence.Push(id: id, outcome: outcomes[index] ?? .accepted(apnsID: id, uniqueID: nil))
        }
        return evidence.verdict(on: pushes).contradictions.count
    }

    @Test("on a connection that nothing happened to, nothing may be unknown")
    func unexplained() {
        run()
        #expect(contradictions([:]) == 0)
        #expect(contradictions([3: .unknown(.connectionClosed)]) == 1)
        #expect(contradictions([1: .unknown(.streamReset), 2: .unknown(.deadline)]) == 2)
    }

    @Test("the end of a connection explains what was under way there, and no deadline")
    func ended() {
        run([1: .resetConnection(processed: true)])
        #expect(
            contradictions([1: .unknown(.connectionClosed), 2: .unknown(.connectionClosed), 3: .unknown(.connectionClosed)]) == 0)
        #expect(contradictions([3: .unknown(.deadline)]) == 1)
        #expect(contradictions([3: .unknown(.streamReset)]) == 1)
    }

    @Test("a reset explains its own stream and no other")
    func reset() {
        run([1: .resetStream(processed: false)])
        #expect(contradictions([1: .unknown(.streamReset)]) == 0)
        #expect(contradictions([2: .unknown(.streamReset)]) == 1)
    }

    @Test("every refusal is reported, with its reason, and no other")
    func refusals() {
        run([1: .status(400, .badTopic)])
        func rejected(_ reason: APNsReason) -> APNsOutcome { .rejected(APNsRejection(status: 400, reason: reason)) }
        #expect(contradictions([1: rejected(.badTopic)]) == 0)
        #expect(contradictions([:]) == 1)
        #expect(contradictions([1: rejected(.badPriority)]) == 1)
        #expect(contradictions([1: rejected(.badTopic), 2: rejected(.badTopic)]) == 1)
    }
}
