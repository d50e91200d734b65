import APNsProtocol
import Foundation
import ServiceEmulation
import Testing

@testable import APNsEmulation

@Suite("Devices, log and counters")
struct DeviceSideTests {
    @Test("an offline device gets only the newest push when it connects, then live ones")
    func newestThenLive() async throws {
        var fixture = try EmulatorFixture()
        let first = fixture.send(body: "1"), second = fixture.send(body: "2")
        var pushes = fixture.apns.connect(device: EmulatorFixture.device).makeAsyncIterator()
        _ = fixture.send(body: "3")
        let (stored, live) = (await pushes.next(), await pushes.next())
        #expect(stored?.payload == Array("2".utf8))
        #expect(stored?.storedWhileOffline == true)
        #expect(live?.payload == Array("3".utf8))
        #expect(live?.storedWhileOffline == false)
        #expect(live?.device == EmulatorFixture.device)
        #expect(live?.topic == EmulatorFixture.bundleID)
        #expect(live?.priority == 10)
        let states = [first, second].compactMap { $0.answer?.uniqueID }.compactMap { UUID(uuidString: $0) }
            .map { fixture.apns.delivery(uniqueID: $0)?.state }
        #expect(states == [.replaced, .delivered])
    }

    @Test("a disconnected device's stream ends and pushes are stored again")
    func disconnect() async throws {
        var fixture = try EmulatorFixture()
        var pushes = fixture.apns.connect(device: EmulatorFixture.device).makeAsyncIterator()
        fixture.apns.disconnect(device: EmulatorFixture.device)
        #expect(await pushes.next() == nil)
        _ = fixture.send()
        #expect(fixture.apns.deliveries.map(\.state) == [.stored])
    }

    @Test("a second connection takes the place of the first")
    func takeOver() async throws {
        var fixture = try EmulatorFixture()
        var old = fixture.apns.connect(device: EmulatorFixture.device).makeAsyncIterator()
        var new = fixture.apns.connect(device: EmulatorFixture.device).makeAsyncIterator()
        _ = fixture.send()
        #expect(await old.next() == nil)
        #expect(await new.next() != nil)
        #expect(fixture.apns.deliveries.map(\.state) == [.delivered])
    }

    @Test("a device goes offline when its stream is released")
    func abandoned() throws {
        var fixture = try EmulatorFixture()
        do { _ = fixture.apns.connect(device: EmulatorFixture.device) }
        _ = fixture.send()
        #expect(fixture.apns.deliveries.map(\.state) == [.stored])
    }

    @Test("readers that are cancelled while pushes arrive block no other caller")
    func cancelledReaders() async throws {
        var fixture = try EmulatorFixture()
        let apns = fixture.apns
        let readers = Task {
            while !Task.isCancelled {
                let reader = Task { for await _ in apns.connect(device: EmulatorFixture.device) {} }
                await Task.yield()
                reader.cancel()
            }
        }
        for _ in 0..<2_000 { _ = fixture.send() }
        readers.cancel()
        await readers.value
        _ = fixture.send()
        #expect(apns.requests(for: fixture.token).accepted == 2_001)
    }

    @Test("requests, acceptances and repeats are counted")
    func counters() throws {
        var fixture = try EmulatorFixture()
        let id = "ec5a59d7-2e32-f33d-0000-00000000000a"
        let answers = (0..<3).map { _ in fixture.send { $0.apnsID = id } }
        #expect(answers.allSatisfy { $0.answer?.apnsID == id }, "echoed as sent")
        _ = fixture.send { $0.topic = nil }
        #expect(fixture.apns.requests(for: fixture.token.uppercased()) == .init(requests: 4, accepted: 3))
        #expect(fixture.apns.acceptances(of: try #require(UUID(uuidString: id))) == 3)
        #expect(fixture.apns.requests(for: "unknown") == .init())
    }

    @Test("ids that APNs creates are upper case, and the unique id exists in the sandbox alone")
    func identifiers() throws {
        var sandbox = try EmulatorFixture()
        var production = try EmulatorFixture(environment: .production)
        let answer = try #require(sandbox.send().answer)
        #expect(answer.apnsID == answer.apnsID.uppercased())
        #expect(APNsText.isUUID(answer.apnsID))
        #expect(answer.uniqueID != nil)
        #expect(production.send().answer?.uniqueID == nil)
    }

    @Test("a seed repeats the device tokens")
    func seed() throws {
        #expect(try EmulatorFixture().token == EmulatorFixture().token)
        var system = RandomSource(seed: nil)
        #expect(system.deviceToken() != system.deviceToken())
    }

    @Test("an exchange holds the request without its credential, and the answer")
    func exchanges() async throws {
        var fixture = try EmulatorFixture()
        var observed = fixture.apns.exchanges.makeAsyncIterator()
        _ = fixture.send { $0.add(name: "apns-priority", value: "7") }
        let exchange = try #require(await observed.next())
        #expect(exchange.answer?.reason == .badPriority)
        #expect(exchange.token == fixture.token)
        #expect(exchange.payloadSize == 22)
        #expect(exchange.payload.count == 22)
        #expect(exchange.headers.map(\.name) == ["apns-topic", "apns-push-type", "apns-priority"])
        #expect(fixture.apns.recordedExchanges == [exchange])
    }

    @Test("a kept token is registered again, a taken or malformed one is not")
    func keptToken() throws {
        let fixture = try EmulatorFixture()
        let kept = String(repeating: "AB", count: 40)
        try fixture.apns.registerToken(kept, device: "bob", topic: "t")
        try fixture.apns.registerToken(kept.lowercased(), device: "bob", topic: "t")
        #expect(fixture.apns.issueToken(device: "bob", topic: "t") == kept.lowercased())
        #expect(throws: LocalAPNsError.deviceTokenTaken) {
            try fixture.apns.registerToken(kept, device: "carol", topic: "t")
        }
        #expect(throws: LocalAPNsError.badDeviceToken) { try fixture.apns.registerToken("xyz", device: "bob", topic: "t") }
    }

    @Test("memory is bounded: the oldest entry goes first")
    func bounds() {
        var ring = NewestEntries<Int>(capacity: 3)
        let dropped = (1...5).map { ring.append($0) }
        #expect(dropped == [nil, nil, nil, 1, 2])
        ring.changeLast(where: { $0 < 5 }, { $0 += 10 })
        #expect(ring.elements == [3, 14, 5])
        ring.clear()
        #expect(ring.elements.isEmpty && ring.count == 5)
        var none = NewestEntries<Int>(capacity: 0)
        #expect(none.append(1) == nil)
        #expect(none.elements.isEmpty)
    }
}
