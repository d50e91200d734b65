import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Many refusals on one connection")
struct RefusalStormTests {
    private struct Server {
        let link: PoolRig.Link
        private var isPunished = false
        private(set) var settings = 0

        init(link: PoolRig.Link) { self.link = link }

        /// Answers all that is open as APNs does: SETTINGS after each refusal, and again after the next success.
        mutating func answer() throws -> Int {
            try link.exchange()
            let requests = link.server.takeRequests()
            var bytes = ByteBuffer()
            let size = requests.reduce(0) { $0 + $1.body.count }
            if size > 0 { bytes.writeImmutableBuffer(.credit(UInt32(size))) }
            for request in requests {
                let isBad = request.stream >> 1 & 1 == 0
                bytes.writeImmutableBuffer(isBad ? .refusal(request.stream, 400, "BadDeviceToken") : .success(request.stream))
                guard isBad != isPunished else { continue }
                isPunished = isBad
                settings += 1
                bytes.writeImmutableBuffer(.streamLimit(isBad ? 1 : 1000))
            }
            try link.say(bytes)
            return requests.count
        }
    }

    @Test("complaint 9: a connection on which every other push is refused is kept, and no push is unknown")
    func everyOther() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(20_000)
        var server = Server(link: link)
        while try server.answer() > 0 {}
        // All of them within the same moment: more frames without content than any server may send unasked.
        #expect(server.settings > 15_000)
        #expect(link.channel.isActive)
        #expect(rig.links.count == 1)
        let outcomes = submission.outcomeList
        #expect(outcomes.count { $0?.isAccepted == true } == 10_000)
        #expect(outcomes.count { if case .rejected? = $0 { true } else { false } } == 10_000)
    }

    @Test("answers do not buy a flood without end")
    func floodAfterAnswers() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        _ = rig.submit(100)
        var server = Server(link: link)
        while try server.answer() > 0 {}
        var many = ByteBuffer()
        for _ in 0..<5_500 { many.writeImmutableBuffer(.streamLimit(1000)) }
        try link.say(many)
        #expect(!link.channel.isActive)
    }
}
