import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// A page of what the caller may read, newest first.
    ///
    /// `before` continues towards older ones (`InboxPage.next`); `since` (the id of the newest one the phone has) stops there, so
    /// that nothing is lost when Apple kept only the newest push. `limit` is clamped to 1 … 100, default 50.
    /// Throws `invalid-field` for a malformed cursor.
    public func inbox(
        before: String? = nil, since: String? = nil, limit: Int? = nil, for principal: Principal
    ) async throws -> InboxPage {
        throw ServiceError(.notReady)
    }

    /// One entry of the inbox.
    public func details(of id: RichID, for principal: Principal) async throws -> InboxEntry {
        throw ServiceError(.notReady)
    }

    /// Marks an entry read or unread, for this user on all devices.
    public func setRead(_ read: Bool, of id: RichID, for principal: Principal) async throws {
        throw ServiceError(.notReady)
    }

    /// Records what an installation reports, at most 100 receipts. Repeats change nothing. Receipts of what the caller may not
    /// read are passed over in silence, so that nothing can be learnt and one stale receipt blocks no others.
    ///
    /// Throws `forbidden` unless signed with an installation credential, `invalid-field` for a malformed receipt.
    public func record(_ batch: ReceiptBatch, for principal: Principal) async throws {
        throw ServiceError(.notReady)
    }
}
