extension Migration {
    /// Finds the feedback of one send, and the sends of one user.
    static let sendLists = Migration(number: 24, name: "feedback by send, sends by user") { _ in
        """
        CREATE INDEX feedback_by_send ON feedback (hub_id, notification_id, number);
        CREATE INDEX rich_notifications_by_sender ON rich_notifications (app_id, sender_id, rich_id);
        """
    }
}
