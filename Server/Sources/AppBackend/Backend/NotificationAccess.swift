import PushHub
import RichPushModel
import ServiceErrors

/// Decides which users may list and read a notification and fetch its content. A value without I/O: the caller passes the bindings.
struct NotificationAccess: Sendable {
    /// Why a user may read a notification.
    enum Relation: Hashable, Sendable {
        /// One of their devices matched its audience in time, or the audience names them.
        case addressed
        /// They sent it, and it was for others.
        case sender
    }

    var principal: Principal
    /// Those that held when the notification began or later.
    var bindings: [Binding]

    /// The relation, or `nil` when the notification does not exist for this user.
    func relation(to notification: RichNotification, at now: Timestamp) -> Relation? {
        guard notification.recalledAt == nil, !notification.isRefused else { return nil }
        if let expiresAt = notification.expiresAt, expiresAt <= now { return nil }
        if isNamed(in: notification) || isReached(by: notification) { return .addressed }
        return notification.sender == principal.userID ? .sender : nil
    }

    /// In which languages the caller reads: an installation in those that it reported, any other caller in those of the field
    /// `Accept-Language`.
    func languages(accepting field: String?) -> LanguagePreference {
        let own = principal.installation.flatMap { id in
            bindings.last { $0.until == nil && $0.device.record.text == id.text }?.device.facts?.preference
        }
        guard let own, !own.tags.isEmpty else { return LanguagePreference(acceptLanguage: field ?? "") }
        return own
    }

    /// Whether the answer hangs on when the send ended, which is not noted yet: then the hub has to be asked first. A device that
    /// was there when the send began gets the same answer either way.
    func dependsOnEnd(of notification: RichNotification, at now: Timestamp) -> Bool {
        guard notification.completedAt == nil else { return false }
        var ended = notification
        (ended.completedAt, ended.endOrder) = (ended.dueAt, ended.order)
        return relation(to: notification, at: now) != relation(to: ended, at: now)
    }

    /// A new user with a reused name cannot read what was sent to the former one.
    private func isNamed(in notification: RichNotification) -> Bool {
        principal.userOrder <= notification.order && notification.audience.wantedTags.contains(.user(principal.name))
    }

    private func isReached(by notification: RichNotification) -> Bool {
        bindings.contains { binding in
            binding.user == principal.userID && binding.held(during: notification)
                && notification.audience.matches(binding.device.matchingTags)
        }
    }
}

extension RichPushBackend {
    /// The most bindings of one user that access looks at: all that there can be.
    static let bindingLimit = BindingLimits.bindings

    /// What everything that the caller may not see looks like.
    static let unseen = ServiceError(.notFound, "there is no such notification")

    /// The notification, if the caller may read it. The error is the same for an unknown one and for another user's.
    func readable(
        _ id: RichID, accepting: String? = nil, for principal: Principal
    ) async throws -> (RichNotification, NotificationAccess.Relation) {
        try principal.require(.readInbox)
        let now = parts.clock.now
        let facts = try await parts.store.accessFacts(about: id, for: principal.userID, limit: Self.bindingLimit)
        let rule = NotificationAccess(principal: principal, bindings: facts.bindings)
        guard var found = facts.notification else { throw Self.unseen }
        if rule.dependsOnEnd(of: found, at: now) { found = try await parts.askedForEnd(of: found) }
        guard let relation = rule.relation(to: found, at: now) else { throw Self.unseen }
        return (try await parts.translated([found], for: rule.languages(accepting: accepting), of: principal)[0], relation)
    }

    /// The notification, if the caller may manage it: they sent it, or they are an admin. An installation credential manages
    /// nothing.
    func managed(_ id: RichID, by principal: Principal) async throws -> RichNotification {
        let extent = try principal.require(.recall)
        guard let found = try await parts.store.notification(id), found.recalledAt == nil,
            found.sender == principal.userID || extent == .all
        else { throw Self.unseen }
        return found
    }
}

/// What the access to one notification and to those of an inbox both ask.
extension BackendParts {
    /// The notifications in the reader's languages and group, as far as they have translations.
    func translated(
        _ notifications: [RichNotification], for languages: LanguagePreference, of reader: Principal
    ) async throws -> [RichNotification] {
        var places: [RichID: Int] = [:]
        for notification in notifications where !notification.translations.isEmpty {
            let group = notification.split?.group(of: reader.name) ?? 0
            places[notification.id] = languages.best(of: notification.translations, inGroup: group)
        }
        guard !places.isEmpty else { return notifications }
        let translations = try await store.translations(places)
        return notifications.map { notification in
            guard let place = places[notification.id], let translation = translations[notification.id] else {
                return notification
            }
            var translated = notification
            translated.language = notification.translations[place].language
            (translated.texts, translated.content, translated.thumb) =
                (translation.texts, translation.content, translation.thumb)
            return translated
        }
    }

    /// Asks the hub whether a send is over whose completion is not noted yet: the upkeep notes it within a minute only, and a tag
    /// that a user gives their device in between must not open what was sent.
    ///
    /// Returns the notification with its completion, if it is over by now; it is noted then. Throws what the hub throws: without an
    /// answer nothing may be granted.
    func askedForEnd(of notification: RichNotification) async throws -> RichNotification {
        guard let trackingID = try await trackingID(of: notification) else { return notification }
        let telemetry = try await hub.telemetry(of: trackingID)
        if let telemetry, !telemetry.state.isFinal { return notification }
        var ended = notification
        // The hub no longer knows when it ended: only devices that matched at the start count.
        ended.completedAt = telemetry?.endedAt ?? notification.dueAt
        ended.endOrder = telemetry == nil ? notification.order : telemetry?.endOrder
        // Without a tracking id the outbox has work left, which a completion would end.
        if notification.trackingID != nil, let end = telemetry?.endedAt {
            try await store.markCompleted(
                notification.id, at: end, order: ended.endOrder,
                audit: telemetry.map { $0.entry(of: notification.id, at: clock.now) })
        }
        return ended
    }

    /// A send whose hand-over was not confirmed may be at the hub all the same. One that is not there has not ended.
    private func trackingID(of notification: RichNotification) async throws -> NotificationID? {
        if let known = notification.trackingID { return known }
        guard let key = try await store.push(of: notification.id)?.hubKey else { return nil }
        return try await hub.notification(idempotencyKey: key)
    }
}
