import ArgumentParser
import HubProtocol
import RemoteHub

extension SendNotificationCommand {
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
            var report = HubReport(trackingId: receipt.id)
            if !json { print("tracking \(receipt.id ?? "none")") }
            defer { if json, let text = try? JSONOutput.text(of: report) { print(text) } }
            guard wait, let id = receipt.id else { return }
            let details = try await finalDetails(of: id, remote)
            report.state = details.state.rawValue
            report.outcomes = Dictionary(
                details.outcomes.flatMap(\.outcomes).map { ($0.name, $0.count) }, uniquingKeysWith: +)
            if !json {
                let counts = details.outcomes.flatMap(\.outcomes).map { "\($0.name) \($0.count)" }
                print(([details.state.rawValue] + counts).joined(separator: ", "))
            }
            if details.state != .completed { throw ExitCode.failure }
        }
    }

    private var alert: String {
        var members = [WireJSON.Member("body", .string(message))]
        if let title { members.insert(.init("title", .string(title)), at: 0) }
        if let subtitle { members.append(.init("subtitle", .string(subtitle))) }
        return WireJSON.object([.init("aps", .object([.init("alert", .object(members))]))]).text
    }

    /// What `--json` prints of a send through a hub.
    private struct HubReport: Encodable {
        /// Absent when the hub named none.
        var trackingId: String?
        /// Present with `--wait`, as the outcomes.
        var state: String?
        var outcomes: [String: Int]?
    }

    /// Asks four times a second until the send has ended, for a minute at most.
    private func finalDetails(of id: String, _ remote: RemoteHub) async throws -> NotificationDetails {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if let details = try await remote.details(of: id), [.completed, .abandoned].contains(details.state) {
                return details
            }
            try await Task.sleep(for: .milliseconds(250))
        }
        Terminal.note("clarion: the hub has not finished yet, or shows its telemetry later")
        throw ExitCode.tryAgain
    }
}
