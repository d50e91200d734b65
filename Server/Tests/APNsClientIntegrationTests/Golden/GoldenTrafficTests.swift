import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

/// Client and local APNs are judged by decoders that neither of them uses, so that a mistake they share cannot hide.
@Suite("Recorded traffic", .timeLimit(.minutes(10)))
struct GoldenTrafficTests {
    @Test("requests and answers mean to independent decoders what they were meant to mean")
    func meaning() async throws {
        var pushes: [APNsPush] = []
        let traffic = try await RecordedSession.record { session in
            pushes = (0..<300).map { session.push($0) }
            #expect(await session.client.send(pushes).filter(\.isAccepted).count == 300)
        }
        #expect(traffic.violations.isEmpty)
        try #require(traffic.requests.count == 300 && traffic.answers.count == 300)
        for (push, request) in zip(pushes, traffic.requests) {
            #expect(
                request.fields.map(\.first) == [
                    ":method", ":scheme", ":authority", ":path", "authorization", "apns-topic", "apns-push-type",
                    "apns-priority", "apns-expiration", "apns-id",
                ])
            #expect(request.value(":method") == "POST")
            #expect(request.value(":scheme") == "https")
            #expect(request.value(":authority") == "api.sandbox.push.apple.com")
            #expect(request.value(":path") == "/3/device/" + push.deviceToken.lowercased())
            #expect(request.value("authorization")?.split(separator: ".").count == 3)
            #expect(request.value("apns-topic") == LocalService.topic)
            #expect(request.value("apns-push-type") == "alert")
            #expect(request.value("apns-priority") == "10")
            #expect(request.value("apns-expiration") == "0")
            #expect(request.value("apns-id") == push.apnsID.map { APNsUUID.text($0) })
            #expect(request.isComplete)
            #expect(request.body == push.payload.count)
        }
        for answer in traffic.answers { #expect(answer.value(":status") == "200" && answer.isComplete) }
        // The sizes of Reference/APNs.md#9-2: a new connection, and the steady state with a fresh id.
        #expect((200...360).contains(try #require(traffic.requests.first?.block)))
        // Digits differ in their length in Huffman's code, so a block has 92 bytes on average and 98 at the most.
        let steady = traffic.requests.suffix(200).map { $0.block ?? .max }
        #expect(steady.allSatisfy { $0 <= 98 } && steady.reduce(0, +) <= 200 * 93, "\(steady)")
    }

    @Test("the frames of a beginning stand in the order that APNs wants")
    func order() async throws {
        let traffic = try await RecordedSession.record { session in
            _ = await session.client.send((0..<10).map { session.push($0) })
        }
        #expect(traffic.violations.isEmpty)
        let client = traffic.frames.filter { $0.side == "c" }.map(\.kind)
        #expect(Array(client.prefix(2)) == ["Settings", "WindowUpdate"])
        #expect(traffic.frames.first { $0.side == "s" }?.kind == "Settings")
        // One request until its answer; the rest after it.
        #expect(traffic.requests.map { ($0.answersBefore ?? 0) == 0 } == [true] + Array(repeating: false, count: 9))
        #expect(traffic.requests.map(\.stream) == Array(stride(from: 1, through: 19, by: 2)))
        #expect(!client.contains("Priority"))
        #expect(!client.contains("Continuation"))
    }

    @Test("bodies far larger than the windows never overrun them, by an independent account")
    func windows() async throws {
        let traffic = try await RecordedSession.record { session in
            let pushes = (0..<120).map { session.push($0, size: 3900) }
            #expect(await session.client.send(pushes).filter(\.isAccepted).count == 120)
        }
        #expect(traffic.violations.isEmpty)
        #expect(traffic.requests.reduce(0) { $0 + ($1.body ?? 0) } > 7 * 65_535)
        #expect(traffic.frames.contains { $0.side == "s" && $0.kind == "WindowUpdate" && $0.stream == 0 })
    }

    @Test("a refusal is read the same way")
    func refusal() async throws {
        let traffic = try await RecordedSession.record { session in
            var bad = session.push(0)
            bad.deviceToken = String(repeating: "ab", count: 32)
            #expect(await session.client.send(bad).reason == .badDeviceToken)
            #expect(await session.client.send(session.push(1)).isAccepted)
        }
        #expect(traffic.violations.isEmpty)
        #expect(traffic.answers.map { $0.value(":status") } == ["400", "200"])
        #expect(traffic.answers.allSatisfy { $0.isComplete })
    }
}
