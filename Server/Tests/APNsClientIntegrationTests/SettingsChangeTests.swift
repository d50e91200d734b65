import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Testing

@Suite("The client when the local APNs changes its settings", .timeLimit(.minutes(10)))
struct SettingsChangeTests {
    private func pushes(_ service: LocalService, _ count: Int, size: Int) -> [APNsPush] {
        let text = String(repeating: "x", count: size)
        return service.tokens(count).map { service.push($0, payload: #"{"aps":{"alert":"\#(text)"}}"#) }
    }

    /// Sends while the settings change at requests in the middle; all must arrive, once, and nothing may be complained of.
    private func send(_ changes: [SettingsChange], pushes count: Int = 600, size: Int = 1_500) async throws {
        try await LocalService.run(limits: APNsClientLimits(connections: 1)) { service in
            for change in changes { service.apns.inject(.settings(change), afterRequests: count / (changes.count + 1)) }
            let outcomes = await service.client.send(pushes(service, count, size: size))
            #expect(outcomes.filter(\.isAccepted).count == count)
            #expect(service.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
            #expect(service.apns.complaints.isEmpty, "\(service.apns.complaints)")
            #expect(service.client.metrics.connected == 1)
            #expect(service.client.metrics.unknown == 0)
        }
    }

    @Test("a smaller stream window, in the middle of bodies, slows them and loses none")
    func smallerWindow() async throws {
        try await send([SettingsChange(initialWindowSize: 700), SettingsChange(initialWindowSize: 100)])
    }

    @Test("windows and limits go up and down while pushes are under way")
    func upAndDown() async throws {
        try await send([
            SettingsChange(streams: 3), SettingsChange(initialWindowSize: 500), SettingsChange(streams: 500),
            SettingsChange(streams: 2, initialWindowSize: 65_535, maximumFrameSize: 32_768), SettingsChange(streams: 1_000),
        ])
    }

    @Test("with a window of nothing the headers go and the bodies wait, until there is a window again")
    func noWindow() async throws {
        try await LocalService.run(limits: APNsClientLimits(connections: 1), frames: 1_000) { service in
            func settings(_ direction: FrameRecord.Direction, flags: UInt8) -> Int {
                service.apns.recordedFrames.count { $0.name == "SETTINGS" && $0.direction == direction && $0.flags == flags }
            }
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
            let before = settings(.sent, flags: 0)
            await service.apns.announce(SettingsChange(initialWindowSize: 0))
            // What is sent before the client has read the settings would still have a window.
            await service.expect { _ in settings(.sent, flags: 0) == before + 1 && settings(.received, flags: 1) == before + 1 }
            let waiting = Task { await service.client.send(pushes(service, 20, size: 100)) }
            func requests(_ name: String) -> Int {
                service.apns.recordedFrames.count { $0.name == name && $0.direction == .received && $0.length > 0 }
            }
            await service.expect { _ in requests("HEADERS") == 21 }
            #expect(requests("DATA") == 1 && service.apns.recordedExchanges.count == 1, "of the first push alone")
            await service.apns.announce(SettingsChange(initialWindowSize: 65_535))
            #expect(await waiting.value.filter(\.isAccepted).count == 20)
            #expect(service.apns.complaints.isEmpty, "\(service.apns.complaints)")
        }
    }

    @Test("frames are as large as the server takes now, and no larger")
    func frameSize() async throws {
        try await LocalService.run(limits: APNsClientLimits(connections: 1), frames: 10_000) { service in
            func largestFrame() -> Int {
                service.apns.recordedFrames.filter { $0.name == "DATA" && $0.direction == .received }.map(\.length).max() ?? 0
            }
            let large = pushes(service, 1, size: 40_000)
            #expect(await service.client.send(large).first?.reason == .payloadTooLarge)
            #expect(largestFrame() == 16_384)
            service.apns.inject(.settings(SettingsChange(maximumFrameSize: 20_000)))
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
            #expect(await service.client.send(large).first?.reason == .payloadTooLarge)
            #expect(largestFrame() == 20_000)
        }
    }

    @Test("at a distance, with Apple's windows, no credit is spent before it can have arrived")
    func distance() async throws {
        var rules = EmulationRules()
        rules.creditDelay = .milliseconds(30)
        // The local APNs' clock is moved by hand, so on a busy machine its 30 ms may be long: nothing else may end the pushes.
        var timing = APNsClientTiming()
        timing.pushDeadline = .seconds(900)
        timing.noAnswer = .seconds(900)
        timing.unacknowledged = .seconds(900)
        try await LocalService.run(rules: rules, limits: APNsClientLimits(connections: 2), timing: timing) { service in
            let outcomes = await service.whileTimePasses { await service.client.send(pushes(service, 150, size: 3_500)) }
            #expect(outcomes.filter(\.isAccepted).count == 150)
            #expect(service.apns.complaints.isEmpty, "\(service.apns.complaints)")
        }
    }
}
