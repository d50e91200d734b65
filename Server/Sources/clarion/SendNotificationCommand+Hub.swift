import ArgumentParser
import CommandLineSupport
import HubProtocol
import RemoteHub

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SendNotificationCommand {
    /// What only an app backend can do.
    func validateForHub() throws {
        guard hub.hub != nil else { return }
        guard (audience == nil) == hub.everyone else {
            throw ValidationError("through a hub a send goes either to an --audience or to --everyone")
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
            if let details = try await remote.details(of: id), details.state.isFinal {
                return details
            }
            try await Task.sleep(for: .milliseconds(250))
        }
        Terminal.note("clarion: the hub has not finished yet, or shows its telemetry later")
        throw ExitCode.tryAgain
    }
}

/// A notification hub to send through directly, without an app backend.
struct HubArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send through this notification hub instead of an app backend: its connection string, or - for the one in CLARION_HUB, which other users of the machine cannot see.",
            valueName: "connection-string"))
    var hub: String?

    @Option(help: ArgumentHelp("The name of the hub given by --hub.", valueName: "name"))
    var hubName: String?

    @Option(help: ArgumentHelp("Certificates (PEM) that vouch for the hub besides the system's.", valueName: "path"))
    var hubTrustRoots: String?

    @Flag(help: "With --hub: send to every device of the hub. Needed where there is no --audience.")
    var everyone = false

    func validate() throws {
        guard (hub == nil) == (hubName == nil) else { throw ValidationError("--hub and --hub-name belong together") }
        guard hub != nil || (hubTrustRoots == nil && !everyone) else {
            throw ValidationError("--hub-trust-roots and --everyone are for --hub")
        }
    }

    /// Opens the hub, hands it over, and closes it; errors become a sentence and an exit code. `nil` when no hub was named.
    func use(_ work: (RemoteHub) async throws -> Void) async throws {
        guard let hub, let hubName else { return }
        let text = hub == "-" ? ProcessInfo.processInfo.environment["CLARION_HUB"] : hub
        guard let text else { throw ValidationError("CLARION_HUB holds no connection string") }
        let remote: RemoteHub
        do throws(RemoteHubError) {
            remote = try RemoteHub(text, hub: hubName, options: RemoteHubOptions(trustRootsPath: hubTrustRoots))
        } catch { throw ValidationError(error.detail) }
        do {
            try await work(remote)
        } catch {
            try? await remote.shutDown()
            throw Self.explained(error)
        }
        try await remote.shutDown()
    }

    private static func explained(_ error: any Error) -> any Error {
        guard let error = error as? RemoteHubError else { return error }
        Terminal.note("clarion: \(error)")
        switch (error.reason, error.fate) {
        case (.unreachable, _): return ExitCode.unreachable
        case (.refused(401), _), (.refused(403), _): return ExitCode.noPermission
        case (_, .unknown): return ExitCode.tryAgain
        default: return ExitCode.failure
        }
    }
}
