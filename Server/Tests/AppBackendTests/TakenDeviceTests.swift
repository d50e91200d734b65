import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("A device that another user took over")
struct TakenDeviceTests {
    @Test("is in the former owner's list, whether its id or only its token was registered again")
    func listed() async throws {
        let test = try await TestBackend()
        let (ann, eve) = (try await test.user("ann"), try await test.user("eve"))
        _ = try await test.install(ann, "phone", handle: 1)
        _ = try await test.install(ann, "tablet", handle: 2)
        #expect(try await test.backend.devices(ofUser: nil, for: ann).takenOver == nil)
        _ = try await test.install(eve, "phone", handle: 1)
        let first = test.clock.now
        test.clock.advance(by: .seconds(60))
        _ = try await test.install(eve, "stolen", handle: 2)
        let list = try await test.backend.devices(ofUser: nil, for: ann)
        #expect(list.devices.isEmpty)
        #expect(
            list.takenOver == [
                TakenDevice(id: "tablet", takenAt: test.clock.now), TakenDevice(id: "phone", takenAt: first),
            ])
        #expect(try await test.backend.devices(ofUser: nil, for: eve).takenOver == nil)
        #expect(try await test.backend.devices(ofUser: "ann").takenOver?.count == 2, "an operator sees it too")
    }

    @Test("is none that the user replaced themself, and goes with the audit")
    func own() async throws {
        let test = try await TestBackend()
        let (ann, eve) = (try await test.user("ann"), try await test.user("eve"))
        _ = try await test.install(ann, "phone", handle: 1)
        _ = try await test.install(ann, "phone-again", handle: 1)
        #expect(try await test.backend.devices(ofUser: nil, for: ann).takenOver == nil)
        _ = try await test.install(eve, "stolen", handle: 1)
        #expect(try await test.backend.devices(ofUser: nil, for: ann).takenOver?.map(\.id) == ["phone-again"])
        let keeper = try AuditBench.keeper(of: test, retention: .seconds(60))
        try await keeper.seal()
        try await keeper.checkpoint()
        test.clock.advance(by: .seconds(61))
        _ = try await keeper.prune()
        #expect(try await test.backend.devices(ofUser: "ann").takenOver == nil)
    }

    @Test("is none of a later user of the same name")
    func reusedName() async throws {
        let test = try await TestBackend()
        let (ann, eve) = (try await test.user("ann"), try await test.user("eve"))
        _ = try await test.install(ann, "phone", handle: 1)
        _ = try await test.install(eve, "phone", handle: 1)
        try await test.backend.removeUser(name: "ann")
        test.clock.advance(by: .seconds(1))
        #expect(try await test.backend.devices(ofUser: nil, for: try await test.user("ann")).takenOver == nil)
    }
}
