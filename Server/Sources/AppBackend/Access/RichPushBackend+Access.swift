import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// The most bindings of one user that access looks at: all that there can be.
    static let bindingLimit = BindingLimits.bindings

    /// What everything that the caller may not see looks like.
    static let unseen = ServiceError(.notFound, "there is no such notification")

    /// The notification, if the caller may read it. Reads the same whether it is unknown or somebody else's.
    func readable(
        _ id: RichID, for principal: Principal
    ) async throws -> (RichNotification, NotificationAccess.Relation) {
        let now = parts.clock.now
        let facts = try await parts.stores.notifications.accessFacts(
            about: id, for: principal.userID, limit: Self.bindingLimit)
        let rule = NotificationAccess(principal: principal, bindings: facts.bindings)
        guard var found = facts.notification else { throw Self.unseen }
        if rule.dependsOnEnd(of: found, at: now) { found = try await SendEnd(parts: parts).asked(found) }
        guard let relation = rule.relation(to: found, at: now) else { throw Self.unseen }
        return (found, relation)
    }

    /// The notification, if the caller may manage it: they sent it, or they are an admin. An installation credential manages
    /// nothing.
    func managed(_ id: RichID, by principal: Principal) async throws -> RichNotification {
        try principal.requirePassword(to: "manage a send")
        guard let found = try await parts.stores.notifications.notification(id), found.recalledAt == nil,
            found.sender == principal.userID || principal.role == .admin
        else { throw Self.unseen }
        return found
    }
}

extension Principal {
    /// Throws `forbidden` for a caller that signed with an installation credential.
    func requirePassword(to act: String) throws {
        guard installation == nil else {
            throw ServiceError(.forbidden, "an installation credential may not \(act); sign with a password")
        }
    }
}
