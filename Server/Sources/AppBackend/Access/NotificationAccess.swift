import PushHub
import RichPushModel

/// Who may list and read a notification (Documentation: access). A value without I/O: the caller brings the user's bindings.
struct NotificationAccess: Sendable {
    /// Why somebody may read a notification.
    enum Relation: Hashable, Sendable {
        /// One of their devices matched its audience in time, or the audience names them.
        case addressed
        /// They sent it, and it was for others.
        case sender
    }

    var user: UserID
    var name: UserName
    var userOrder: OrderNumber
    /// Those that held when the notification began or later.
    var bindings: [Binding]

    init(principal: Principal, bindings: [Binding]) {
        user = principal.userID
        name = principal.name
        userOrder = principal.userOrder
        self.bindings = bindings
    }

    /// The relation, or `nil` when the notification does not exist for this user.
    func relation(to notification: RichNotification, at now: Timestamp) -> Relation? {
        guard notification.recalledAt == nil, !notification.isRefused else { return nil }
        if let expiresAt = notification.expiresAt, expiresAt <= now { return nil }
        if isNamed(in: notification) || isReached(by: notification) { return .addressed }
        return notification.sender == user ? .sender : nil
    }

    /// Whether the answer hangs on when the send ended, which is not noted yet: then the hub has to be asked first. A device that
    /// was there when the send began gets the same answer either way.
    func dependsOnEnd(of notification: RichNotification, at now: Timestamp) -> Bool {
        guard notification.completedAt == nil else { return false }
        var ended = notification
        (ended.completedAt, ended.endOrder) = (ended.dueAt, ended.order)
        return relation(to: notification, at: now) != relation(to: ended, at: now)
    }

    /// A name that was given to somebody new does not open what was sent to the old bearer.
    private func isNamed(in notification: RichNotification) -> Bool {
        userOrder <= notification.order && notification.audience.wantedTags.contains(.user(name))
    }

    private func isReached(by notification: RichNotification) -> Bool {
        bindings.contains { binding in
            binding.user == user && binding.held(during: notification)
                && notification.audience.matches(binding.device.matchingTags)
        }
    }
}
