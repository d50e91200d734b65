import RichPushModel

/// The tags that the user chose, by which an audience may name this installation.
extension RichPushEngine {
    /// As many as the server takes of one installation, besides the tag of its user.
    private static var tagLimit: Int { 59 }

    private func tagsKey(of session: Session) -> RecordKey { RecordKey(.state, "tags", of: session.id) }

    /// The tags of this installation; none when nobody is signed in.
    public var currentTags: [Tag] {
        guard let session else { return [] }
        return (try? records.read([Tag].self, tagsKey(of: session))) ?? []
    }

    /// Replaces the tags. They are kept here first; a server that cannot be reached now hears of them as soon as it can.
    ///
    /// Throws `badTag`, and `refused` when the server does not take them (`username:` and other protected ones): then the tags
    /// are what they were.
    public func setTags(_ tags: [String]) async throws(RichPushError) {
        let checked = tags.compactMap { Tag($0) }
        guard checked.count == tags.count, checked.count <= Self.tagLimit else { throw .badTag }
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        let before = currentTags
        try storing { () throws(StorageError) in try records.write(checked, tagsKey(of: session)) }
        do throws(RichPushError) {
            try await tellTags(in: session)
        } catch {
            if error.isTransient { return startRegistration() }
            guard isCurrent(session) else { throw .notSignedIn }
            try storing { () throws(StorageError) in try records.write(before, tagsKey(of: session)) }
            throw error
        }
    }

    private func tellTags(in session: Session) async throws(RichPushError) {
        let update = await installationUpdate()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let answer = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
            try await self.put(update, installation: session.installation, as: authorization, within: deadline)
        }
        guard isCurrent(session) else { throw .notSignedIn }
        try storing { () throws(StorageError) in try acknowledge(update, answer, in: session) }
    }
}
