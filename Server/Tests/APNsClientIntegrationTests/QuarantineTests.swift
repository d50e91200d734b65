import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Testing

@Suite("Doubtful tokens", .timeLimit(.minutes(10)))
struct QuarantineTests {
    @Test("pushes to suspicious tokens never share a connection with the others, and each gets its own outcome")
    func apart() async throws {
        try await LocalService.run(strictness: .apple) { service in
            var pushes = service.pushes(300)
            for index in stride(from: 0, to: 300, by: 10) {
                var push = service.push(String(repeating: "ab", count: 32))
                push.standing = .suspect
                pushes.insert(push, at: index)
            }
            let outcomes = await service.client.send(pushes)
            for (push, outcome) in zip(pushes, outcomes) {
                if push.standing == .suspect { #expect(outcome.reason == .badDeviceToken) } else { #expect(outcome.isAccepted) }
            }
            let exchanges = service.apns.recordedExchanges
            let refused = Set(exchanges.filter { $0.answer?.status == 400 }.map(\.connection))
            let accepted = Set(exchanges.filter { $0.answer?.status == 200 }.map(\.connection))
            #expect(refused.count == 1)
            #expect(refused.isDisjoint(with: accepted))
            await service.expect { $0.accepted == 300 && $0.rejected == 30 }
        }
    }
}
