import APNsProtocol
import ClarionTesting
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("APNs goes away and returns")
struct ServiceReturnTests {
    @Test("after ninety seconds without APNs a push that waits leaves within three seconds of its return", arguments: 0..<5)
    func returns(offset: Int64) throws {
        let rig = try PoolRig()
        rig.isReachable = false
        let submission = rig.submit([Pushes.push()], deadline: .minutes(5))
        for _ in 0..<90 { rig.advance(.seconds(1)) }
        rig.advance(.milliseconds(offset * 600))
        rig.isReachable = true
        #expect(rig.links.isEmpty)
        rig.advance(.seconds(3))
        try #require(rig.links.count == 1)
        try rig.links[0].say(.streamLimit(1000))
        try rig.links[0].say(.success(1))
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test("the first attempt that fails is logged at once with host and cause, the same cause not again within a minute")
    func firstLine() throws {
        let notes = LogNotes()
        let rig = try PoolRig(logger: notes.logger)
        rig.isReachable = false
        rig.connectError = APNsUnreachable(
            isUnresolved: true, description: "the name push.example.com cannot be resolved: no such name")
        let submission = rig.submit([Pushes.push()], deadline: .seconds(20))
        func logged() -> [String] {
            notes.lines.filter { $0.level >= .debug }.map { "\($0.message) \($0.metadata.values.joined(separator: " "))" }
        }
        let first = logged()
        #expect(first.count == 1)
        #expect(first.first?.contains("api.push.apple.com:443") == true)
        #expect(first.first?.contains("no such name") == true)
        for _ in 0..<25 { rig.advance(.seconds(1)) }
        #expect(submission.outcome(0) == .notSent(.nameNotResolved))
        #expect(logged().count == 1)
    }
}
