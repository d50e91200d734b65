/// What a phone reports of a rich notification. "Displayed" is missing because no phone can know it.
public struct Receipt: Hashable, Sendable, Codable {
    /// What happened.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The extension or the background handler got the push.
        case delivered
        /// The content arrived and passed its checks.
        case fetched
        /// The user opened it.
        case opened
        /// The user chose the action named in `action`.
        case action
        /// The user removed the notification.
        case dismissed
        /// The phone could not show the content, for the reason in `action`.
        case failed
    }

    public var richID: RichID
    public var kind: Kind
    /// The action id for `action`, a short reason for `failed`, else absent. At most 64 of `A-Z a-z 0-9 . _ -`.
    public var action: String?
    /// When it happened, by the phone's clock.
    public var at: Timestamp

    /// Creates a receipt.
    public init(richID: RichID, kind: Kind, action: String? = nil, at: Timestamp) {
        self.richID = richID
        self.kind = kind
        self.action = action
        self.at = at
    }

    private enum CodingKeys: String, CodingKey { case richID = "id", kind, action, at }
}

/// The body of `POST /api/v1/receipts`: at most 100 receipts. Repeats are harmless: a receipt counts once for an
/// installation, notification, kind and action.
public struct ReceiptBatch: Hashable, Sendable, Codable {
    public var receipts: [Receipt]

    /// Creates a batch.
    public init(receipts: [Receipt]) { self.receipts = receipts }
}
