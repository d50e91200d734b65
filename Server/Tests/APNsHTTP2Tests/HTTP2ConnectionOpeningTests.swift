import APNsProtocol
import Foundation
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Opening streams")
struct HTTP2ConnectionOpeningTests {
    @Test("a client begins with preface, settings without push, and a large receive window")
    func start() throws {
        var rig = try ConnectionRig(isOpen: false)
        #expect(rig.connection.output.getString(at: 0, length: 24) == "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(rig.connection.output.getBytes(at: 24, length: 15) == bytes("00000c 04 00 00000000 0002 00000000"))
        try rig.exchange()
        #expect(rig.server.takeFrames().last == .windowUpdate(stream: 0, increment: 16 * 1024 * 1024 - 65_535))
    }

    @Test("no stream is opened before the first settings, which are acknowledged")
    func beforeSettings() throws {
        var rig = try ConnectionRig(isOpen: false)
        #expect(!rig.connection.canOpen(bodySize: 1))
        try rig.exchange()
        _ = rig.server.takeFrames()
        try rig.receive(.streamLimit(10))
        #expect(rig.connection.canOpen(bodySize: 1))
        try rig.exchange()
        #expect(rig.server.takeFrames() == [.settingsAcknowledgement])
    }

    @Test("anything else than settings at the beginning ends the connection")
    func wrongBeginning() throws {
        var rig = try ConnectionRig(isOpen: false)
        let fault = #expect(throws: HTTP2Fault.self) { try rig.receive(.frame(0x6, [UInt8](repeating: 0, count: 8))) }
        #expect(fault?.code == .protocolError)
    }

    @Test("with tokens one request goes first, and the limit counts after its answer")
    func warmUp() throws {
        var rig = try ConnectionRig(warmsUp: true, streamLimit: 1000)
        #expect(try rig.open(5) == 1)
        try rig.exchange()
        try rig.receive(.success(1))
        #expect(try rig.open(2000, firstTicket: 1) == 1000)
    }

    @Test("the limit follows every settings frame; open streams stay when it falls")
    func dynamicLimit() throws {
        var rig = try ConnectionRig(streamLimit: 1)
        #expect(try rig.open(5) == 1)
        try rig.receive(.streamLimit(4))
        #expect(try rig.open(5, firstTicket: 1) == 3)
        try rig.receive(.streamLimit(2))
        try rig.receive(.success(1), .success(3))
        #expect(rig.connection.streams.count == 2)
        #expect(!rig.connection.canOpen(bodySize: 1))
        try rig.receive(.success(5))
        #expect(try rig.open(5, firstTicket: 10) == 1)
        try rig.receive(.streamLimit(0))
        try rig.receive(.success(7), .success(9))
        #expect(!rig.connection.canOpen(bodySize: 1))
    }

    @Test("a server without a limit gets no more streams than the configuration allows")
    func unlimited() throws {
        var rig = try ConnectionRig(streamLimit: nil)
        #expect(try rig.open(10_000, size: 1) == 4000)
    }

    @Test("a request carries what APNs wants, in wire order, on odd ids")
    func request() throws {
        var rig = try ConnectionRig()
        let id = try #require(UUID(uuidString: "0F0E0D0C-0B0A-0908-0706-050403020100"))
        let headers = APNsPush.Headers(
            topic: "com.example.app", pushType: .alert, priority: 5, expiration: 1_800_000_000, collapseID: "ü 1")
        for _ in 0..<3 {
            _ = rig.connection.open(0, Pushes.push(id: id, headers: headers), authorization: ConnectionRig.authorization)
        }
        try rig.exchange()
        let requests = rig.server.takeRequests()
        #expect(requests.map(\.stream) == [1, 3, 5])
        for request in requests {
            #expect(
                request.fields == [
                    ":method: POST", ":scheme: https", ":authority: api.push.apple.com",
                    ":path: /3/device/\(Pushes.token.lowercased())", "authorization: bearer aaa.bbb.ccc",
                    "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 5",
                    "apns-expiration: 1800000000", "apns-collapse-id: ü 1", "apns-id: 0f0e0d0c-0b0a-0908-0706-050403020100",
                ])
            #expect(request.body.count == 20)
            #expect(request.isComplete)
        }
    }

    @Test("a certificate needs no authorization, and absent headers are absent")
    func bareRequest() throws {
        var rig = try ConnectionRig()
        let headers = APNsPush.Headers(topic: "com.example.app", pushType: .alert)
        _ = rig.connection.open(0, Pushes.push(headers: headers), authorization: nil)
        try rig.exchange()
        let request = try #require(rig.server.takeRequests().first)
        #expect(request.fields.count == 6)
        #expect(request.value("authorization") == nil)
        #expect(request.value("apns-priority") == nil)
    }

    @Test("from the third request on a header block has at most 92 bytes with an id, and 63 without")
    func steadyState() throws {
        for (id, limit) in [(UUID?.none, 63), (UUID(), 95)] {
            var rig = try ConnectionRig()
            for _ in 0..<3 {
                _ = rig.connection.takeOutput()
                _ = rig.connection.open(0, Pushes.push(id: id), authorization: ConnectionRig.authorization)
            }
            let length = Int(rig.connection.output.getInteger(at: 1, as: UInt16.self) ?? 0)
            #expect(length <= limit)
        }
    }

    @Test("many header sets and a new token on one connection stay readable")
    func manyHeaderSets() throws {
        var rig = try ConnectionRig()
        for round in 0..<200 {
            let headers = APNsPush.Headers(topic: "com.example.app\(round % 40)", pushType: .alert, priority: 10)
            let token = APNsAuthorization(value: "bearer \(round / 50)", generation: UInt64(round / 50))
            _ = rig.connection.open(round, Pushes.push(id: UUID(), headers: headers), authorization: token)
            try rig.exchange()
            let request = try #require(rig.server.takeRequests().first)
            #expect(request.value("apns-topic") == "com.example.app\(round % 40)")
            #expect(request.value("authorization") == "bearer \(round / 50)")
        }
    }

    @Test("a stream that stays open is passed by when the ids come round to its slot")
    func slowStream() throws {
        var rig = try ConnectionRig(streamLimit: 4)
        #expect(try rig.open(1) == 1)
        var used: Set<UInt32> = [1]
        for _ in 0..<1000 {
            #expect(try rig.open(1) == 1)
            try rig.exchange()
            let stream = try #require(rig.server.takeRequests().last?.stream)
            #expect(used.insert(stream).inserted)
            try rig.receive(.success(stream))
        }
        try rig.receive(.success(1))
        #expect(rig.connection.streams.count == 0)
    }
}
