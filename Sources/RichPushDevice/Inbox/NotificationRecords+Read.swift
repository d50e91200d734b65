import RichPushModel

/// What was read on this device, from the moment it was opened until the server's list says so.
///
/// The outbox forgets a read mark when the server has taken it. The list that is kept on the device is older than that, so
/// this one record outlives the outbox's. Only the app writes it.
extension NotificationRecords {
    private func key(of session: SessionID) -> RecordKey { RecordKey(.state, "read", of: session) }

    /// What was read here and is not known to be in the synchronised inbox.
    func readHere(of session: SessionID) throws(StorageError) -> Set<RichID> {
        Set(try read([RichID].self, key(of: session)) ?? [])
    }

    func markRead(_ id: RichID, of session: SessionID) throws(StorageError) {
        var ids = try readHere(of: session)
        guard ids.insert(id).inserted else { return }
        try write(ids.sorted(), key(of: session))
    }

    /// Forgets what the server's list has answered: what it shows as read, and what the server had been told before the list
    /// was asked for. About what was read since, the list is too old to say anything.
    func confirmRead(by list: [InboxEntry], told: Set<RichID>, of session: SessionID) throws(StorageError) {
        let ids = try readHere(of: session)
        let left = ids.subtracting(told).subtracting(list.filter(\.read).map(\.id))
        guard left.count < ids.count else { return }
        try write(left.sorted(), key(of: session))
    }
}
