import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What keeps the records of a phone bounded on which pushes arrive for months and nobody opens the app.
extension NotificationRecords {
    /// Keeps the marks of the newest notifications. An older push that is repeated after so many others is shown again.
    func pruneShown(of session: SessionID) throws(StorageError) {
        let ids = try store.records(.shown, of: session, limit: limits.inboxCount * 4)
            .compactMap { try? JSONDecoder().decode(RichID.self, from: $0) }
        for id in surplus(ids) { try store.removeRecord(RecordKey(.shown, "\(id)", of: session)) }
    }

    /// Keeps what is known of the newest notifications. The server still has the others.
    func pruneDetails(of session: SessionID) throws(StorageError) {
        for id in surplus(try arrived(of: session).map(\.id)) {
            try store.removeRecord(RecordKey(.details, "\(id)", of: session))
            try forgetWords(id, of: session)
        }
    }

    private func surplus(_ ids: [RichID]) -> ArraySlice<RichID> { ids.sorted(by: >).dropFirst(limits.inboxCount) }
}
