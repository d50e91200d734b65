import ArgumentParser
import CommandLineSupport
import RemoteHub

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
