import RichPushModel

/// Keeps receipts. Errors are `ServiceError`.
public protocol ReceiptStore: Sendable {
    /// Stores receipts, each once; returns those that were new.
    func record(_ receipts: [StoredReceipt], at now: Timestamp) async throws -> [StoredReceipt]

    /// How many installations sent each kind for a notification.
    func counts(of id: RichID) async throws -> [Receipt.Kind: Int]

    /// The same of several notifications, with one question to the database for each page of a list; those without a receipt are absent.
    func counts(of ids: [RichID]) async throws -> [RichID: [Receipt.Kind: Int]]
}
