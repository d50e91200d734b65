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
    /// are what they were. A server that could not be reached at first may refuse them later: then they become those that it took
    /// last, else none, and the event `tagsRefused` says so.
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

    /// Tells the server of this installation. Where it refuses, tags may be why, for what it protects can change: it is told
    /// again with those that it took last, and then without any, because tags must not keep a new token from it. Returns what it
    /// took.
    func tell(
        _ update: InstallationUpdate, in session: Session,
        by put: (InstallationUpdate) async throws(RichPushError) -> InstallationAnswer
    ) async throws(RichPushError) -> (InstallationUpdate, InstallationAnswer) {
        do {
            return (update, try await put(update))
        } catch .refused(let problem) {
            for tags in fallbacks(of: update, in: session) {
                var other = update
                other.tags = tags
                guard let answer = try await taken(other, by: put) else { continue }
                guard isCurrent(session) else { throw .notSignedIn }
                try giveUp(update.tags, for: tags, because: problem, in: session)
                return (other, answer)
            }
            // Not the tags, then: they stay.
            throw .refused(problem)
        } catch {
            throw error
        }
    }

    private func fallbacks(of update: InstallationUpdate, in session: Session) -> [[Tag]] {
        guard !update.tags.isEmpty else { return [] }
        let before = acknowledged(in: session)?.tags ?? []
        return before.isEmpty || before == update.tags ? [[]] : [before, []]
    }

    private func taken(
        _ update: InstallationUpdate, by put: (InstallationUpdate) async throws(RichPushError) -> InstallationAnswer
    ) async throws(RichPushError) -> InstallationAnswer? {
        do {
            return try await put(update)
        } catch .refused {
            return nil
        } catch {
            throw error
        }
    }

    /// Unless the user chose others while the server answered.
    private func giveUp(
        _ refused: [Tag], for tags: [Tag], because problem: Problem, in session: Session
    ) throws(RichPushError) {
        guard currentTags == refused else { return }
        try storing { () throws(StorageError) in try records.write(tags, tagsKey(of: session)) }
        device.log.record(DeviceEvent(.tagsRefused, nil, ["reason": problem.code, "kept": "\(tags.count)"]))
    }
}
