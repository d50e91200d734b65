import ClarionTesting
import RichPushModel
import SharedAccess
import Testing

@testable import HubProtocol
@testable import RemoteHub

@Suite("Calls to a hub elsewhere")
struct RemoteCallTests {
    @Test("every request is signed for the hub, versioned and named")
    func common() async throws {
        let remote = try ScriptedRemote(.queued)
        try await remote.hub.send(.apple("{}"), requestID: "r-1")
        let request = try remote.request
        #expect(request.method == "POST")
        #expect(request.url == "https://push.example.test:8443/demo/messages?api-version=2020-06")
        #expect(request.headers["x-ms-version"] == "2020-06")
        #expect(request.headers["x-ms-client-request-id"] == "r-1")
        let key = try #require(SharedAccessKey("c2VjcmV0LWtleS1mb3ItZXhhbXBsZXMtMDEyMzQ1Njc4OTA="))
        let rule = AccessRule(name: "full", rights: [.send], primary: key, secondary: SharedAccessKey.random())
        let verified = SharedAccessSignature.verify(
            header: request.headers["Authorization"],
            for: SharedAccessRequest(hosts: ["push.example.test:8443"], path: "/demo/messages", now: remote.clock.now),
            rules: [rule])
        guard case .success = verified else {
            Issue.record("\(verified)")
            return
        }
    }

    @Test("a repetition has the same id and body, and the answer counts")
    func repeated() async throws {
        let remote = try ScriptedRemote(.status(503), .fault(.interrupted("it broke")), .status(408), .queued)
        let receipt = try await remote.hub.send(.apple("{}"))
        #expect(receipt.id == ScriptedRemote.queuedID)
        let asked = remote.transport.asked
        #expect(asked.count == 4)
        #expect(Set(asked.compactMap { $0.headers["x-ms-client-request-id"] }) == [receipt.requestID])
        #expect(Set(asked.map(\.body)).count == 1)
    }

    @Test("after the third repetition the last error is thrown, and it says that the send may have arrived")
    func exhausted() async throws {
        let remote = try ScriptedRemote(.status(500), .status(500), .status(500), .status(500), .queued)
        let error = try await remote.failure { try await $0.send(.apple("{}"), requestID: "r") }
        #expect(error == RemoteHubError(.refused(status: 500), .unknown, "the hub is out of order", requestID: "r"))
        #expect(remote.transport.rest == 1)
    }

    @Test("a refusal is final, in the hub's own words, and nothing was done")
    func refused() async throws {
        let remote = try ScriptedRemote(
            .status(
                400, [],
                "<Error><Code>400</Code><Detail>The tag is none.TrackingId:1f0c8f5e-0000-4000-8000-000000000001_G3,TimeStamp:3/1/2026 10:00:00 AM</Detail></Error>"
            ))
        let error = try await remote.failure { try await $0.send(.apple("{}"), requestID: "r") }
        #expect(error == RemoteHubError(.refused(status: 400), .nothingDone, "The tag is none.", requestID: "r"))
        #expect(remote.transport.asked.count == 1)
    }

    @Test("a refusal after an interruption does not say that nothing was done")
    func refusedLater() async throws {
        let remote = try ScriptedRemote(.fault(.interrupted("it broke")), .status(401))
        let error = try await remote.failure { try await $0.send(.apple("{}")) }
        #expect(error.status == 401)
        #expect(error.fate == .unknown)
    }

    @Test("no connection at all means that nothing was done, and a broken one that the outcome is unknown")
    func connections() async throws {
        let options = RemoteHubOptions(retries: 0)
        let unreachable = try ScriptedRemote(.fault(.unreachable("nothing answers")), options: options)
        let first = try await unreachable.failure { try await $0.send(.apple("{}"), requestID: "r") }
        #expect(first == RemoteHubError(.unreachable, .nothingDone, "nothing answers", requestID: "r"))
        let broken = try ScriptedRemote(.fault(.interrupted("it broke")), options: options)
        #expect(try await broken.failure { try await $0.send(.apple("{}")) }.fate == .unknown)
    }

    @Test("Retry-After is waited for on the clock, and an attempt gets no more time than the call has left")
    func waiting() async throws {
        let options = RemoteHubOptions(deadline: .seconds(30), attemptDeadline: .seconds(20))
        let remote = try ScriptedRemote(.status(429, [HeaderField("Retry-After", "12")]), .queued, options: options)
        async let receipt = remote.hub.send(.apple("{}"))
        #expect(await eventually { remote.clock.sleeperCount > 0 })
        remote.clock.advance(by: .seconds(11))
        #expect(remote.clock.sleeperCount == 1, "not before its time")
        remote.clock.advance(by: .seconds(1))
        _ = try await receipt
        #expect(remote.transport.times == [.seconds(20), .seconds(18)])
    }

    @Test("429 without Retry-After, and one that asks for too long, are given back")
    func tooLong() async throws {
        for headers in [[], [HeaderField("Retry-After", "3600")], [HeaderField("Retry-After", "tomorrow")]] {
            let remote = try ScriptedRemote(.status(429, headers), .queued)
            let error = try await remote.failure { try await $0.send(.apple("{}")) }
            #expect(error.status == 429)
            #expect(error.fate == .nothingDone)
            #expect(error.retryAfter == (headers.first?.value == "3600" ? 3600 : nil))
        }
    }

    @Test("another status of success is none, since it may mean anything")
    func unexpected() async throws {
        for status in [200, 202, 302] {
            let remote = try ScriptedRemote(.status(status))
            let error = try await remote.failure { try await $0.send(.apple("{}")) }
            #expect(error.reason == .unexpectedAnswer)
            #expect(error.fate == .unknown)
        }
    }

    @Test("a cancelled task ends the wait")
    func cancelled() async throws {
        let remote = try ScriptedRemote(.status(503), .queued, options: RemoteHubOptions())
        let task = Task { try await remote.hub.send(.apple("{}")) }
        #expect(await eventually { remote.clock.sleeperCount > 0 })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(remote.transport.asked.count == 1)
    }

    @Test("a connection string or a hub's name that is none is refused, and the key is never shown")
    func construction() throws {
        #expect(throws: RemoteHubError.self) { try RemoteHub("Endpoint=sb://h/", hub: "demo") }
        #expect(throws: RemoteHubError.self) {
            try RemoteHub("Endpoint=http://push.example.test/;SharedAccessKeyName=n;SharedAccessKey=secret", hub: "demo")
        }
        let remote = try ScriptedRemote()
        for name in ["", "a/b", "$batch", "a b"] {
            #expect(throws: RemoteHubError.self) {
                try RemoteHub(
                    "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=secret", hub: name)
            }
        }
        #expect(!"\(remote.hub.endpoint)".contains("c2Vj"))
    }
}
