import Crypto
import PushHub
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Pushes that make widgets and controls read their data again. They show nothing and carry nothing (Reference/LiveActivities.md#4).
extension RichPushBackend {
    /// Requests for one audience within so many seconds become one push: the system grants few.
    private static let merging: Int64 = 2
    /// A widget that was away for longer reads its data anyway.
    private static let reloadLife: Duration = .seconds(3600)

    /// Reloads the widgets or the controls of an audience, within two seconds.
    ///
    /// Throws `invalid-field`, `invalid-audience`, `forbidden`, `approval-required`; `conflict` where the hub is elsewhere.
    public func reload(_ request: ReloadRequest, for principal: Principal) async throws -> ReloadAnswer {
        try principal.require(.send)
        let audience = try AudienceRule(principal: principal).audience(of: request.audience)
        let kinds: [String: InstallationToken.Kind] = ["widgets": .widgets, "controls": .control("")]
        guard let kind = kinds[request.what] else {
            throw ServiceError(.invalidField, "what: it must be widgets or controls")
        }
        guard parts.hub.decidesForDevices else {
            throw ServiceError(.conflict, "the hub elsewhere knows no tokens of widgets and controls")
        }
        try await requireApproval(of: audience, for: principal)
        try countSend(of: principal)
        // At the end of the time, so that no change of the data comes after its push.
        let due = Timestamp(seconds: (parts.clock.now.seconds / Self.merging + 1) * Self.merging)
        let digest = SHA256.hash(data: Data(audience.description.utf8)).prefix(16).map { String($0, radix: 16) }.joined(
            separator: ".")
        var command = SendCommand(
            message: PushMessage(
                body: Array(#"{"aps":{"content-changed":true}}"#.utf8), pushType: request.what, priority: 5,
                collapseID: "reload-\(request.what)", expiresAt: due + Self.reloadLife),
            audience: audience, dueAt: due, idempotencyKey: "reload \(request.what) \(due.seconds) \(digest)")
        command.format = .native(kind.platform)
        let receipt = try await parts.hub.send(command)
        return ReloadAnswer(id: receipt.id.text, dueAt: receipt.dueAt)
    }
}
