import RichPushModel

extension RichPushEngine {
    /// Makes calls with the narrow credential. When the server takes it no longer, a kept password gets a new one, once;
    /// without a password the user must sign in again, and until then nothing is fetched.
    func authorized<Value: Sendable>(
        in session: Session, _ work: (Authorization) async throws(RichPushError) -> Value
    ) async throws(RichPushError) -> Value {
        let credential = try self.credential()
        do {
            return try await work(.installation(credential))
        } catch .credentialRejected {
            guard isCurrent(session) else { throw .notSignedIn }
            let isChanged = try self.credential() != credential
            if !isChanged {
                guard await renewCredential(in: session) else {
                    reject(session)
                    throw .credentialRejected
                }
            }
            return try await work(.installation(try self.credential()))
        } catch {
            throw error
        }
    }

    private func credential() throws(RichPushError) -> String {
        guard let credential = try storing({ () throws(StorageError) in try device.secrets.secret(.credential) }) else {
            throw .notSignedIn
        }
        return credential
    }

    /// The user's name and password, for the calls that the narrow credential may not make.
    func passwordAuthorization(in session: Session) throws(RichPushError) -> Authorization {
        guard let password = try storing({ () throws(StorageError) in try device.secrets.secret(.password) }),
            let name = UserName(session.user)
        else { throw .passwordNotKept }
        return .password(name, password)
    }

    /// Whether there is a new credential. Calls that come meanwhile share one renewal, because each ends the one before.
    private func renewCredential(in session: Session) async -> Bool {
        if let renewal { return await renewal.value }
        let task = Task { await fetchCredential(in: session) }
        renewal = task
        let isRenewed = await task.value
        renewal = nil
        return isRenewed
    }

    private func fetchCredential(in session: Session) async -> Bool {
        guard let authorization = try? passwordAuthorization(in: session) else { return false }
        let update = await installationUpdate()
        let answer = try? await put(
            update, installation: session.installation, as: authorization,
            within: Deadline(device.clock, after: configuration.limits.callDeadline))
        guard let credential = answer?.credential, isCurrent(session) else { return false }
        return (try? device.secrets.setSecret(credential, for: .credential)) != nil
    }

    private func reject(_ session: Session) {
        guard isCurrent(session) else { return }
        self.session?.isRejected = true
        guard let rejected = self.session else { return }
        try? device.store.update(rejected)
    }
}
