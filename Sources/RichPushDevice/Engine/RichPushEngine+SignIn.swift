import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// Signs a user in: registers this installation with the password and keeps the narrow credential that comes back. Whoever
    /// was signed in before is signed out first; what they lost by that says an event `undelivered`, so an app that wants to tell them
    /// calls `signOut` itself.
    ///
    /// Throws `wrongPassword`, `badUserName`, `busy`, and whatever the network and the server give.
    @discardableResult
    public func signIn(user: String, password: String) async throws(RichPushError) -> Session {
        guard let name = UserName(user) else { throw .badUserName }
        load()
        if session != nil { try await signOut() }
        // What undoes an earlier attempt shall not arrive after this one, and what was bound before should be free by then.
        if mayBeBound { await revoking?.value }
        let session: Session
        do throws(RichPushError) {
            session = try await establish(name, password)
        } catch {
            // It was made for a session that there is not.
            if self.session == nil, error != .busy, !isStopped { try? device.secrets.removeSecret(.sealingKey) }
            throw error
        }
        // The token may have come while the server answered.
        startRegistration()
        return session
    }

    private func establish(_ name: UserName, _ password: String) async throws(RichPushError) -> Session {
        guard !isChangingSession, !isStopped else { throw .busy }
        isChangingSession = true
        defer { isChangingSession = false }
        let update = await installationUpdate()
        let (installation, answer) = try await bindHere(update, name, password)
        // Its process has ended: whoever comes after it finds the attempt written down, and undoes it.
        guard !isStopped else { throw .busy }
        guard let credential = answer.credential, !credential.isEmpty, let id = SessionID(device.identifiers.newIdentifier())
        else { throw .badAnswer }
        var session = Session(id: id, user: answer.user, installation: installation, signedInAt: device.clock.now)
        try storing { () throws(StorageError) in
            session.isShared = try noteUser(of: session)
            try keep(session, credential: credential, password: password, told: (update, answer))
        }
        self.session = session
        isLoaded = true
        // They were to what another user had got.
        waitingResponses = []
        device.log.record(DeviceEvent(.signedIn))
        return session
    }

    /// Asks the server for this installation. Where another user has it, the app was removed here without a sign-out: the name has
    /// outlived it in the key chain, and who takes over an installation has to have its token as well, which is another since. So it
    /// begins under a new name, and the phone counts as shared: pushes for the other may come until the server has heard of it.
    private func bindHere(
        _ update: InstallationUpdate, _ name: UserName, _ password: String
    ) async throws(RichPushError) -> (InstallationID, InstallationAnswer) {
        let known = try storing { () throws(StorageError) in try installationID() }
        do throws(RichPushError) {
            return (known, try await bind(known, update, name, password))
        } catch {
            guard error == .notFound, !isStopped else { throw error }
        }
        let new = try storing { () throws(StorageError) in
            try device.secrets.setSecret(Self.severalUsers, for: .servedUser)
            return try newInstallationID()
        }
        return (new, try await bind(new, update, name, password))
    }

    /// Asks the server, and remembers that it was asked for as long as it may have done it unheard.
    private func bind(
        _ installation: InstallationID, _ update: InstallationUpdate, _ name: UserName, _ password: String
    ) async throws(RichPushError) -> InstallationAnswer {
        let before = unconfirmed()
        try storing { () throws(StorageError) in try noteUnconfirmed(name, password, installation) }
        do throws(RichPushError) {
            return try await put(
                update, installation: installation, as: .password(name, password),
                within: Deadline(device.clock, after: configuration.limits.callDeadline))
        } catch {
            settleUnconfirmed(before, after: error)
            throw error
        }
    }

    /// What a sign-in leaves on the device; all or nothing.
    private func keep(
        _ session: Session, credential: String, password: String, told: (InstallationUpdate, InstallationAnswer)
    ) throws(StorageError) {
        do {
            try device.cache.begin(session.id)
            try device.secrets.setSecret(credential, for: .credential)
            if configuration.keepsPasswordForSending { try device.secrets.setSecret(password, for: .password) }
            // Revoking the sign-in before would end this one.
            try forgetRevocation(of: session.installation)
            try device.store.begin(session)
            try acknowledge(told.0, told.1, in: session)
            try forgetUnconfirmed(of: session.installation)
        } catch {
            try? forgetEverything()
            throw error
        }
    }

    private static let severalUsers = "several"

    /// Whether somebody else has ever been signed in on this installation. What is kept for it holds no name.
    private func noteUser(of session: Session) throws(StorageError) -> Bool {
        let user = DigestText.digest("\(session.installation)/\(session.user.lowercased())")
        let served = try device.secrets.secret(.servedUser)
        guard served != user else { return false }
        try device.secrets.setSecret(served == nil ? user : Self.severalUsers, for: .servedUser)
        return served != nil
    }

    /// The stable name of this installation, made on first use.
    private func installationID() throws(StorageError) -> InstallationID {
        if let text = try device.secrets.secret(.installationID), let id = InstallationID(text) { return id }
        return try newInstallationID()
    }

    private func newInstallationID() throws(StorageError) -> InstallationID {
        let text = device.identifiers.newIdentifier()
        guard let id = InstallationID(text) else { throw .failed }
        try device.secrets.setSecret(text, for: .installationID)
        return id
    }
}
