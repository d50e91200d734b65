import RichPushModel

extension RichPushEngine {
    /// Makes calls with the narrow credential. When the server takes it no longer, a kept password gets a new one, once, as far
    /// as `deadline` allows; without a password that the server takes the user must sign in again, and until then nothing is
    /// fetched.
    func authorized<Value: Sendable>(
        in session: Session, within deadline: Deadline, _ work: (Authorization) async throws(RichPushError) -> Value
    ) async throws(RichPushError) -> Value {
        let credential = try self.credential()
        do {
            return try await work(.installation(credential))
        } catch .credentialRejected {
            guard isCurrent(session) else { throw .notSignedIn }
            if try self.credential() == credential { try await renewCredential(in: session, within: deadline) }
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

    /// Gets a new credential. Calls that come meanwhile share one renewal, because each ends the one before; none waits longer
    /// than its own deadline. Only a server that refuses ends the session: one that cannot be reached refuses nothing.
    private func renewCredential(in session: Session, within deadline: Deadline) async throws(RichPushError) {
        while true {
            let shared = renewal
            let task = shared ?? startRenewal(in: session)
            let failure: RichPushError? = await deadline.run { await task.value } ?? .timedOut
            guard let failure else { return }
            if shared != nil, failure == .timedOut, deadline.remaining > .zero, isCurrent(session), !Task.isCancelled { continue }
            guard isCurrent(session) else { throw .notSignedIn }
            if failure.isTransient { throw failure }
            reject(session)
            throw .credentialRejected
        }
    }

    private func startRenewal(in session: Session) -> Task<RichPushError?, Never> {
        let task = Task {
            var failure: RichPushError?
            do throws(RichPushError) { try await fetchCredential(in: session) } catch { failure = error }
            if !Task.isCancelled { renewal = nil }
            return failure
        }
        renewal = task
        return task
    }

    private func fetchCredential(in session: Session) async throws(RichPushError) {
        let authorization = try passwordAuthorization(in: session)
        let update = await installationUpdate()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let (_, answer) = try await tell(update, in: session) { update throws(RichPushError) in
            try await self.put(update, installation: session.installation, as: authorization, within: deadline)
        }
        guard isCurrent(session) else { throw .notSignedIn }
        guard let credential = answer.credential, !credential.isEmpty else { throw .badAnswer }
        try storing { () throws(StorageError) in try device.secrets.setSecret(credential, for: .credential) }
    }

    private func reject(_ session: Session) {
        guard isCurrent(session) else { return }
        self.session?.isRejected = true
        guard let rejected = self.session else { return }
        try? device.store.update(rejected)
    }
}
