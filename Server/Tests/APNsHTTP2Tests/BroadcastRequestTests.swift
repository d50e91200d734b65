import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Broadcasts and channels on the wire")
struct BroadcastRequestTests {
    private static let channel = APNsChannel.ID(rawValue: "dHN0LXNyY2gtY2hubA==")

    private func answer(_ stream: UInt32, status: Int, _ fields: [(String, String)] = [], body: String = "") -> ByteBuffer {
        var block = ByteBuffer.headerBlock(status: status)
        for (name, value) in fields {
            block += [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        var buffer = ByteBuffer.frame(0x1, flags: body.isEmpty ? 0x5 : 0x4, stream: stream, block)
        if !body.isEmpty { buffer.writeImmutableBuffer(.frame(0x0, flags: 0x1, stream: stream, Array(body.utf8))) }
        return buffer
    }

    @Test("a broadcast is a request to the app's path with channel, expiration, priority and type, and without a topic")
    func broadcast() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let id = UUID()
        let broadcast = APNsBroadcast(
            app: "com.example.app", channel: Self.channel, payload: Array("{}".utf8), priority: 5, requestID: id)
        let submission = rig.submit(.broadcast(broadcast))
        try link.exchange()
        let request = try #require(link.server.takeRequests().first)
        #expect(request.value(":method") == "POST")
        #expect(request.value(":path") == "/4/broadcasts/apps/com.example.app")
        #expect(request.value("authorization")?.hasPrefix("bearer ") == true)
        #expect(request.value("apns-channel-id") == Self.channel.rawValue)
        #expect(request.value("apns-expiration") == "0")
        #expect(request.value("apns-priority") == "5")
        #expect(request.value("apns-push-type") == "liveactivity")
        #expect(request.value("apns-request-id") == APNsUUID.text(id))
        #expect(request.value("apns-topic") == nil)
        #expect(request.body == Array("{}".utf8))
        #expect(request.isComplete)
        try link.say(answer(request.stream, status: 200, [("apns-request-id", id.uuidString)]))
        #expect(submission.outcome(0) == .accepted(apnsID: id, uniqueID: nil))
    }

    @Test("a channel is created with its policy in the body, and its id comes from the header")
    func create() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(.createChannel(in: "com.example.app", .mostRecentMessage))
        try link.exchange()
        let request = try #require(link.server.takeRequests().first)
        #expect(request.value(":path") == "/1/apps/com.example.app/channels")
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        try link.say(answer(request.stream, status: 201, [("apns-channel-id", Self.channel.rawValue)]))
        #expect(submission.outcome(0)?.isAccepted == true)
        #expect(submission.response?.content.channelID == Self.channel)
    }

    @Test(
        "reading and deleting name the channel in a header and have no body", arguments: [HTTP2Request.Method.get, .delete])
    func byChannel(method: HTTP2Request.Method) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(.channel(Self.channel, in: "com.example.app", method))
        try link.exchange()
        let request = try #require(link.server.takeRequests().first)
        #expect(request.value(":method") == method.rawValue)
        #expect(request.value(":path") == "/1/apps/com.example.app/channels")
        #expect(request.value("apns-channel-id") == Self.channel.rawValue)
        #expect(request.body.isEmpty)
        #expect(request.isComplete)
        try link.say(answer(request.stream, status: method == .get ? 200 : 204))
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test("a list far larger than the stream's window arrives whole")
    func largeList() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(.allChannels(in: "com.example.app"))
        try link.exchange()
        let stream = try #require(link.server.takeRequests().first).stream
        try link.say(.frame(0x1, flags: 0x4, stream: stream, ByteBuffer.headerBlock(status: 200)))
        for _ in 0..<40 { try link.say(.frame(0x0, stream: stream, [UInt8](repeating: 0x20, count: 10_000))) }
        try link.say(.frame(0x0, flags: 0x1, stream: stream, Array(#"{"channels":[]}"#.utf8)))
        #expect(submission.outcome(0)?.isAccepted == true)
        #expect(submission.response?.content.body.count == 400_015)
        try link.exchange()
        let credit = link.server.takeFrames().reduce(0) { sum, frame in
            if case .windowUpdate(stream, let increment) = frame { sum + Int(increment) } else { sum }
        }
        #expect(credit == 400_000)
    }

    @Test("a broadcast that a GOAWAY left unprocessed is sent again on the next connection")
    func resend() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let broadcast = APNsBroadcast(app: "com.example.app", channel: Self.channel, payload: Array("{}".utf8))
        let submission = rig.submit(.broadcast(broadcast))
        try link.say(.goAway(last: 1))
        rig.advance(.seconds(1))
        let next = try #require(rig.links.last)
        try next.say(.streamLimit(10))
        try next.exchange()
        #expect(next.server.requests.first?.value(":path") == "/4/broadcasts/apps/com.example.app")
        try next.say(.success(1))
        #expect(submission.outcome(0)?.isAccepted == true)
        #expect(rig.metrics.resends == 1)
    }

    @Test("device pushes and broadcasts share a connection without disturbing each other's header blocks")
    func mixed() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        for round in 0..<5 {
            _ = rig.submit(1)
            let broadcast = APNsBroadcast(
                app: "com.example.app", channel: APNsChannel.ID(rawValue: "Y2hhbm5lbA\(round)"), payload: [0x7B, 0x7D])
            _ = rig.submit(.broadcast(broadcast))
            try link.exchange()
            let requests = link.server.takeRequests()
            #expect(requests.map { $0.value(":path")?.prefix(3) } == ["/3/", "/4/"])
            #expect(requests.last?.value("apns-channel-id") == "Y2hhbm5lbA\(round)")
            #expect(requests.first?.value("apns-topic") == "com.example.app")
        }
    }
}
