import LocalCertificates
import NIOCore
import NIOHTTP2
import NIOSSL
import Testing

@testable import APNsEmulation

@Suite("The local APNs over TLS and HTTP/2")
struct WireTests {
    @Test("an accepted push reaches the connected device, byte for byte")
    func delivery() async throws {
        try await RunningEmulator.run { emulator in
            var pushes = emulator.apns.connect(device: EmulatorFixture.device).makeAsyncIterator()
            let client = try await emulator.connect()
            let body = #"{"aps":{"alert":"Grüße 🎁"},"richId":"7"}"#
            let answer = try await client.send(emulator.push(body))
            #expect(answer.status == "200")
            #expect(answer.body.isEmpty)
            let push = try #require(await pushes.next())
            #expect(push.payload == Array(body.utf8))
            #expect(push.storedWhileOffline == false)
            #expect(answer.headers["apns-id"] == push.apnsID.uuidString)
            #expect(answer.headers["apns-unique-id"] == push.uniqueID.uuidString.lowercased())
            try await client.close()
        }
    }

    @Test("a device that was offline gets only the newest")
    func newest() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            for body in ["1", "2", "3"] { #expect(try await client.send(emulator.push(body)).status == "200") }
            var pushes = emulator.apns.connect(device: EmulatorFixture.device).makeAsyncIterator()
            #expect(await pushes.next()?.payload == Array("3".utf8))
            _ = try await client.send(emulator.push("4"))
            #expect(await pushes.next()?.payload == Array("4".utf8))
            try await client.close()
        }
    }

    @Test("SETTINGS are Apple's: one stream, then a thousand, one again after a rejection")
    func settings() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            let refused = try await client.send(emulator.push(authorization: "bearer x"))
            #expect(refused.status == "403" && refused.body == #"{"reason":"InvalidProviderToken"}"#)
            #expect(refused.headers["content-type"] == "application/json")
            let first = ["table=4096", "streams=1", "window=65535", "frame=16384", "headers=8000"]
            #expect(try await client.observation().settings == [first])
            for request in [emulator.push(), emulator.push(""), emulator.push(), emulator.push()] {
                _ = try await client.send(request)
                _ = try await client.send(emulator.push(method: "GET"))
            }
            let later = try await client.observation().settings.dropFirst()
            #expect(Array(later.prefix(4)) == [["streams=1000"], ["streams=1"], ["streams=1000"], ["streams=1"]])
            try await client.close()
        }
    }

    @Test("HEAD on the root is 405, without a body")
    func head() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            let answer = try await client.send(emulator.push(nil, method: "HEAD", path: "/"))
            #expect(answer.status == "405")
            #expect(answer.body.isEmpty)
            let other = try await client.send(emulator.push(path: "/3/nothing"))
            #expect(other.status == "404" && other.body == #"{"reason":"BadPath"}"#)
            try await client.close()
        }
    }

    @Test("TLS 1.2 and 1.3, with and without ALPN", arguments: [TLSVersionChoice.tls12, .tls13], [["h2"], []])
    func handshakes(version: TLSVersionChoice, alpn: [String]) async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect(alpn: alpn, maximumTLS: version)
            #expect(try await client.send(emulator.push()).status == "200")
            try await client.close()
        }
    }

    @Test("TLS 1.1 and a client without our root are refused in the handshake")
    func refusedHandshakes() async throws {
        try await RunningEmulator.run { emulator in
            let push = emulator.push()
            let old = try? await emulator.connect(maximumTLS: .tls11, early: [push])
            #expect(try await failures(old) == 1)
            let client = try await WireClient.connect(
                port: emulator.port, trusting: try LocalCertificateAuthority.create().certificatePEM, early: [push])
            #expect(try await failures(client) == 1)
            #expect(emulator.apns.requests(for: emulator.token).requests == 0)
        }
    }

    private func failures(_ client: WireClient?) async throws -> Int {
        guard let client else { return 1 }
        return try await client.earlyAnswers().filter { if case .failure = $0 { true } else { false } }.count
    }

    @Test("streams beyond the limit are refused one by one and the connection goes on")
    func refusedStreams() async throws {
        try await RunningEmulator.run { emulator in
            // The first request waits for its answer, so the next two come while one stream is open.
            emulator.apns.inject(.delay(.seconds(1)))
            let client = try await emulator.connect(early: [emulator.push(), emulator.push(), emulator.push()])
            let outcomes = try await client.earlyAnswers().map { outcome in
                switch outcome {
                case .success(let answer): answer.status
                case .failure(let error): "\((error as? WireClientHandler.Ended)?.code ?? "\(error)")"
                }
            }
            #expect(outcomes.first == "200")
            #expect(outcomes.dropFirst().allSatisfy { $0.contains("REFUSED") || $0.contains("Refused") }, "\(outcomes)")
            #expect(emulator.apns.requests(for: emulator.token).requests == 1)
            #expect(try await client.send(emulator.push()).status == "200")
            try await client.close()
        }
    }

    @Test("ten thousand pushes over one connection, a thousand at a time, are all answered and counted")
    func volume() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(try await client.send(emulator.push()).status == "200")
            let body = String(repeating: "x", count: 300)
            for _ in 0..<10 {
                let answers = try await client.send(Array(repeating: emulator.push(body), count: 1_000))
                #expect(answers.allSatisfy { (try? $0.get().status) == "200" })
            }
            #expect(emulator.apns.requests(for: emulator.token) == .init(requests: 10_001, accepted: 10_001))
            #expect(emulator.apns.acceptanceCounts.count == 10_001)
            try await client.close()
        }
    }

    @Test("a body of a megabyte is answered 413 without being kept")
    func hugeBody() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            let answer = try await client.send(emulator.push(String(repeating: "x", count: 1_000_000)))
            #expect(answer.status == "413")
            let exchange = try #require(emulator.apns.recordedExchanges.last)
            #expect(exchange.payloadSize == 1_000_000)
            #expect(exchange.payload.count == APNsRequest.keptBody)
            try await client.close()
        }
    }

    @Test("without TLS it speaks HTTP/2 with prior knowledge")
    func clearText() async throws {
        try await RunningEmulator.run(transport: .clearText) { emulator in
            let client = try await emulator.connect()
            #expect(try await client.send(emulator.push()).status == "200")
            try await client.close()
        }
    }
}
