import AppBackend
import RichPushModel

/// May this user read that notification?
struct AccessQuestion: Sendable {
    let id: RichID
    let user: UserID
    let limit: Int

    /// What decides each question, in their order. A notification that many ask for, as right after its push, is read once.
    static func answers(
        to questions: [AccessQuestion], _ app: AppID, _ connection: any SQLConnection
    ) throws -> [AccessFacts] {
        var known: [RichID: RichNotification?] = [:]
        return try questions.map { question in
            let notification: RichNotification?
            if let read = known[question.id] {
                notification = read
            } else {
                notification = try SQLRichNotificationStore.notification(question.id, app, connection)
                known[question.id] = .some(notification)
            }
            return AccessFacts(
                notification: notification,
                bindings: try SQLBindingStore.bindings(
                    of: question.user, since: notification?.order ?? .last, limit: question.limit, app, connection))
        }
    }
}
