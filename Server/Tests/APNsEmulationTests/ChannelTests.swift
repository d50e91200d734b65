import APNsProtocol
import Foundation
import RichPushModel
import Testing

@testable import APNsEmulation

@Suite("Channels and broadcasts")
struct ChannelTests {
    private static let hour = Duration.seconds(3_600)

    /// A device that follows a storing channel.
    private static func subscribed(_ fixture: EmulatorFixture) throws -> String {
        let id = try fixture.apns.createChannel(bundleID: EmulatorFixture.bundleID, policy: .mostRecent)
        try fixture.apns.subscribe(device: EmulatorFixture.device, toChannel: id, bundleID: EmulatorFixture.bundleID)
        return id
    }

    @Test("a channel is created, read, listed and deleted, and its id is never known again")
    func management() throws {
        var fixture = try EmulatorFixture()
        let created = fixture.send(.management).answer
        let id = try #require(created?.channelID)
        #expect(created?.status == 201)
        #expect(created?.body == nil)
        #expect(Data(base64Encoded: id)?.count == 16)
        let read = fixture.send(.management) { ($0.method, $0.channelID) = ("GET", id) }.answer
        #expect(read?.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        let list = fixture.send(.management) { head in
            (head.method, head.channelID) = ("GET", nil)
            head.path = "/1/apps/\(EmulatorFixture.bundleID)/all-channels"
        }
        #expect(list.answer?.body == #"{"channels":["\#(fixture.channel)","\#(id)"]}"#)
        #expect(EmulatorFixture.text(fixture.send(.management) { ($0.method, $0.channelID) = ("DELETE", id) }) == "204")
        let again = fixture.send(.management) { ($0.method, $0.channelID) = ("GET", id) }
        #expect(EmulatorFixture.text(again) == "400 ChannelNotRegistered")
        #expect(fixture.apns.channels(of: EmulatorFixture.bundleID) == [fixture.channel])
    }

    @Test(
        "the body of a creation is judged",
        arguments: [
            ("", "400 BadRequestPayload"), ("[]", "400 BadRequestPayload"),
            (#"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#, "400 BadRequestParams"),
            (#"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, "400 BadRequestParams"),
            (#"{"push-type":"LiveActivity"}"#, "400 BadRequestParams"), ("{}", "400 MissingPushType"),
            (#"{"message-storage-policy":0,"push-type":7}"#, "400 InvalidPushType"),
            (#"{"message-storage-policy":0,"push-type":"LiveActivity"}"#, "201"),
        ])
    func creation(body: String, expected: String) throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send(.management, body: body)) == expected)
    }

    @Test("credentials are judged before the channel, and both ids of a request are answered as apns-request-id")
    func order() throws {
        var fixture = try EmulatorFixture()
        let verdict = fixture.send(.broadcast) { ($0.authorization, $0.channelID) = (nil, nil) }
        #expect(EmulatorFixture.text(verdict) == "403 MissingProviderToken")
        let id = "EC5A59D7-2E32-F33D-0000-00000000000A"
        #expect(fixture.send(.broadcast) { $0.requestID = id }.answer?.apnsID == id)
        #expect(fixture.send(.broadcast) { $0.apnsID = id }.answer?.apnsID == id)
        #expect(fixture.send(.broadcast).answer?.uniqueID != nil)
    }

    @Test(
        "a broadcast that starts a Live Activity is accepted, and its client is complained of",
        arguments: ["start", "update", "end"])
    func start(event: String) throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send(.broadcast, body: #"{"aps":{"event":"\#(event)"}}"#)) == "200")
        #expect(fixture.apns.complaints.map(\.kind) == (event == "start" ? [.startedActivityByBroadcast] : []))
    }

    @Test("expiration and priority of a broadcast are required", arguments: ["400 BadExpirationDate", "400 BadPriority"])
    func required(expected: String) throws {
        var fixture = try EmulatorFixture()
        let verdict = fixture.send(.broadcast) { head in
            if expected.hasSuffix("Priority") { head.priority = nil } else { head.expiration = nil }
        }
        #expect(EmulatorFixture.text(verdict) == expected)
    }

    @Test("a broadcast on a channel that stores nothing reaches connected devices only")
    func live() async throws {
        var fixture = try EmulatorFixture()
        let channel = fixture.channel
        for device in ["near", "away"] {
            try fixture.apns.subscribe(device: device, toChannel: channel, bundleID: EmulatorFixture.bundleID)
        }
        var near = fixture.apns.connect(device: "near").makeAsyncIterator()
        let uniqueID = try #require(fixture.send(.broadcast).answer?.uniqueID.flatMap(UUID.init))
        let push = try #require(await near.next())
        #expect(push.channelID == channel)
        #expect(push.pushType == .liveActivity)
        #expect(push.uniqueID == uniqueID)
        #expect(push.token.isEmpty)
        let states = fixture.apns.deliveries(uniqueID: uniqueID)
        #expect(Set(states.map { "\($0.device) \($0.state)" }) == ["near delivered", "away discarded"])
    }

    @Test("a storing channel keeps the most recent broadcast for eight hours", arguments: [true, false])
    func stored(inTime: Bool) async throws {
        var fixture = try EmulatorFixture()
        let channel = try Self.subscribed(fixture)
        for event in ["first", "second"] {
            let later = "\(fixture.clock.now.seconds + 100_000)"
            _ = fixture.send(.broadcast, body: event) { ($0.channelID, $0.expiration) = (channel, later) }
        }
        fixture.clock.advance(by: Self.hour * 8 - .seconds(inTime ? 1 : 0))
        let stream = fixture.apns.connect(device: EmulatorFixture.device)
        fixture.apns.disconnect(device: EmulatorFixture.device)
        let received = await stream.reduce(into: []) { $0.append(String(decoding: $1.payload, as: UTF8.self)) }
        #expect(received == (inTime ? ["second"] : []))
        #expect(fixture.apns.deliveries.map(\.state) == [.replaced, inTime ? .delivered : .expired])
    }

    @Test("an earlier expiration ends the storage, expiration 0 begins none", arguments: [0, 60])
    func expiration(seconds: Int64) async throws {
        var fixture = try EmulatorFixture()
        let channel = try Self.subscribed(fixture)
        let expiration = seconds == 0 ? "0" : "\(fixture.clock.now.seconds + seconds)"
        _ = fixture.send(.broadcast) { ($0.channelID, $0.expiration) = (channel, expiration) }
        fixture.clock.advance(by: .seconds(60))
        _ = fixture.apns.connect(device: EmulatorFixture.device)
        #expect(fixture.apns.deliveries.map(\.state) == [seconds == 0 ? .discarded : .expired])
    }

    @Test("deleting a channel recalls nothing, taking the capability away destroys everything", arguments: [true, false])
    func deletion(capability: Bool) throws {
        var fixture = try EmulatorFixture()
        let channel = try Self.subscribed(fixture)
        let later = "\(fixture.clock.now.seconds + 1_000)"
        _ = fixture.send(.broadcast) { ($0.channelID, $0.expiration) = (channel, later) }
        if capability {
            try fixture.apns.registerApp(bundleID: EmulatorFixture.bundleID, teamID: fixture.signer.teamID)
        } else {
            fixture.apns.deleteChannel(channel, bundleID: EmulatorFixture.bundleID)
        }
        _ = fixture.apns.connect(device: EmulatorFixture.device)
        #expect(fixture.apns.deliveries.map(\.state) == [capability ? .stored : .delivered])
    }

    @Test("a new subscriber of a channel gets the stored broadcast, if the rules say so", arguments: [true, false])
    func newcomer(reaches: Bool) throws {
        var fixture = try EmulatorFixture { $0.storedBroadcastReachesNewSubscriber = reaches }
        let channel = try Self.subscribed(fixture)
        let later = "\(fixture.clock.now.seconds + 1_000)"
        _ = fixture.send(.broadcast) { ($0.channelID, $0.expiration) = (channel, later) }
        let stream = fixture.apns.connect(device: "new")
        try fixture.apns.subscribe(device: "new", toChannel: channel, bundleID: EmulatorFixture.bundleID)
        #expect(fixture.apns.deliveries.map(\.device).contains("new") == reaches)
        withExtendedLifetime(stream) {}
    }

    @Test("the two environments and the two endpoints share nothing")
    func endpoints() throws {
        var fixture = try EmulatorFixture(environment: .production)
        #expect(EmulatorFixture.text(fixture.send(.management)) == "201")
        var other = try EmulatorFixture()
        let verdict = other.send(.broadcast) { $0.channelID = "AAAAAAAAAAAAAAAAAAAAAA==" }
        #expect(EmulatorFixture.text(verdict) == "400 ChannelNotRegistered")
        #expect(EmulatorFixture.text(other.send(.device) { $0.path = "/1/apps/x/channels" }) == "404 BadPath")
        #expect(EmulatorFixture.text(other.send(.management) { $0.path = "/3/device/x" }) == "404 BadPath")
    }

    @Test("over the wire: create, broadcast, delete")
    func wire() async throws {
        try await RunningEmulator.run { emulator in
            let path = "/1/apps/\(EmulatorFixture.bundleID)"
            let manager = try await emulator.connect(management: true)
            let created = try await manager.send(
                emulator.request("POST", path + "/channels", body: EmulatorFixture.creation))
            #expect(created.status == "201" && created.body.isEmpty && created.headers["apns-request-id"] != nil)
            let id = try #require(created.headers["apns-channel-id"])
            let list = try await manager.send(emulator.request("GET", path + "/all-channels"))
            #expect(list.status == "200" && list.body == #"{"channels":["\#(id)"]}"#)

            try emulator.apns.subscribe(device: "phone", toChannel: id, bundleID: EmulatorFixture.bundleID)
            var pushes = emulator.apns.connect(device: "phone").makeAsyncIterator()
            let sender = try await emulator.connect()
            let fields = [
                ("apns-channel-id", id), ("apns-expiration", "0"), ("apns-priority", "10"), ("apns-push-type", "Liveactivity"),
            ]
            let published = try await sender.send(
                emulator.request("POST", "/4/broadcasts/apps/\(EmulatorFixture.bundleID)", fields, body: "{}"))
            #expect(published.status == "200" && published.headers["apns-unique-id"] != nil)
            #expect(await pushes.next()?.channelID == id)
            let deleted = try await manager.send(emulator.request("DELETE", path + "/channels", [("apns-channel-id", id)]))
            #expect(deleted.status == "204")
            #expect(deleted.body.isEmpty)
            try await sender.close()
            try await manager.close()
        }
    }
}
