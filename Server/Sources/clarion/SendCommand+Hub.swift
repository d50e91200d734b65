import ArgumentParser
import HubProtocol
import RemoteHub

extension SendCommand {
    /// What only an app backend can do.
    func validateForHub() throws {
        guard hub.hub != nil else { return }
        guard (audience == nil) == hub.everyone else {
            throw ValidationError("through a hub a send goes to an --audience or, said aloud, to --everyone")
        }
        guard [picture, sound, video, file, link, coupon].allSatisfy({ $0 == nil }), style == nil, preview == nil else {
            throw ValidationError(
                "a hub carries the text alone: content, --style and --preview need an app backend, so leave out --hub or them")
        }
    }

    /// Sends the text as an alert through a hub.
    func sendThroughHub() async throws {
        try await hub.use { remote in
            let receipt = try await remote.send(
                .apple(alert, tags: audience, headers: AppleSendHeaders(pushType: "alert", priority: 10)),
                requestID: idempotencyKey)
            print("tracking \(receipt.id ?? "none")")
            if wait, let id = receipt.id { try await report(on: id, remote) }
        }
    }

    private var alert: String {
        var members = [WireJSON.Member("body", .string(message))]
        if let title { members.insert(.init("title", .string(title)), at: 0) }
        if let subtitle { members.append(.init("subtitle", .string(subtitle))) }
        return WireJSON.object([.init("aps", .object([.init("alert", .object(members))]))]).text
    }

    /// Asks four times a second until the send has ended, for a minute at most.
    private func report(on id: String, _ remote: RemoteHub) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let details = try await remote.details(of: id), [.completed, .abandoned].contains(details.state) {
                let counts = details.outcomes.flatMap(\.outcomes).map { "\($0.name) \($0.count)" }
                print(([details.state.rawValue] + counts).joined(separator: ", "))
                if details.state != .completed { throw ExitCode.failure }
                return
            }
            try await Task.sleep(for: .milliseconds(250))
        }
        Terminal.note("clarion: the hub has not finished yet, or shows its telemetry later")
        throw ExitCode.tryAgain
    }
}
