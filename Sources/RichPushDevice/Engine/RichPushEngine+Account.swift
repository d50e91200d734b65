import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// Signs a user in: registers this installation with the password and keeps the narrow credential that comes back. A user who was
    /// signed in before is signed out first. The event `undelivered` reports what they lost by that; an app that wants to inform them
    /// calls `signOut` itself.
    ///
    /// Throws `wrongPassword`, `badUserName`, `busy`, and whatever the network and the server give.
    @discardableResult
    public func signIn(user: String, password: String) async throws(RichPushError) -> Session {
        guard let name = UserName(user) else { throw .badUserName }
        try await signOut()
        return try await signIn(as: .password(name, password))
    }

    func signIn(as proof: Authorization) async throws(RichPushError) -> Session {
        // The revocation of an earlier attempt must not arrive after this one, and should free the installation first.
        if mayBeBound { await revoking?.value }
        let session: Session
        do throws(RichPushError) {
            session = try await establish(proof)
        } catch {
            // The key was made for a session that does not exist.
            if self.session == nil, error != .busy, !isStopped { try? device.secrets.removeSecret(.sealingKey) }
            throw error
        }
        // The token may have come while the server answered.
        startRegistration()
        startActivityReport()
        return session
    }

    private func establish(_ proof: Authorization) async throws(RichPushError) -> Session {
        guard !isChangingSession, !isStopped else { throw .busy }
        isChangingSession = true
        defer { endChange() }
        let update = await installationUpdate()
        let (installation, answer) = try await bindHere(update, proof)
        // The process has ended: the next one finds the attempt in its records and undoes it.
        guard !isStopped else { throw .busy }
        return try begin(on: installation, proof, acknowledged: (update, answer))
    }

    /// A sign-in with a token that came meanwhile begins.
    private func endChange() {
        isChangingSession = false
        startWantedSignIn()
    }

    /// Begins the session that the server has answered with.
    func begin(
        on installation: InstallationID, _ proof: Authorization,
        acknowledged: (update: InstallationUpdate, answer: InstallationAnswer)
    ) throws(RichPushError) -> Session {
        let answer = acknowledged.answer
        guard let credential = answer.credential, !credential.isEmpty, let id = SessionID(device.identifiers.newIdentifier())
        else { throw .badAnswer }
        var session = Session(id: id, user: answer.user, installation: installation, signedInAt: device.clock.now)
        try storing { () throws(StorageError) in
            session.isShared = try noteUser(of: session)
            try keep(session, credential: credential, proof: proof, acknowledged: acknowledged)
        }
        self.session = session
        isLoaded = true
        endSignIn(with: proof)
        // They answered notifications of another user.
        waitingResponses = []
        device.log.record(DeviceEvent(.signedIn))
        return session
    }

    /// Binds this installation at the server. If another user has it, the app was removed here without a sign-out, and the id has
    /// outlived it in the key chain. To take an installation over, a client must also have its device token, which has changed since.
    /// So the engine begins under a new id, and the phone counts as shared: pushes for the other user may come until the server has
    /// revoked them.
    private func bindHere(
        _ update: InstallationUpdate, _ proof: Authorization
    ) async throws(RichPushError) -> (InstallationID, InstallationAnswer) {
        let known = try storing { () throws(StorageError) in try installationID() }
        do throws(RichPushError) {
            return (known, try await bind(known, update, proof))
        } catch {
            guard error == .notFound, !isStopped else { throw error }
        }
        let new = try storing { () throws(StorageError) in
            try device.secrets.setSecret(Self.severalUsers, for: .servedUser)
            return try newInstallationID()
        }
        return (new, try await bind(new, update, proof))
    }

    /// Asks the server, and keeps a record of the attempt as long as the server may have bound it without an answer.
    private func bind(
        _ installation: InstallationID, _ update: InstallationUpdate, _ proof: Authorization
    ) async throws(RichPushError) -> InstallationAnswer {
        let before = unconfirmed()
        try storing { () throws(StorageError) in try noteUnconfirmed(proof, installation) }
        do throws(RichPushError) {
            return try await put(
                update, installation: installation, as: proof,
                within: Deadline(device.clock, after: configuration.limits.callDeadline))
        } catch {
            settleUnconfirmed(before, of: proof, after: error)
            throw error
        }
    }

    /// Stores what a sign-in leaves on the device; all or nothing.
    private func keep(
        _ session: Session, credential: String, proof: Authorization, acknowledged: (InstallationUpdate, InstallationAnswer)
    ) throws(StorageError) {
        do {
            try device.cache.begin(session.id)
            try device.secrets.setSecret(credential, for: .credential)
            if configuration.keepsPasswordForSending, case .password(_, let password) = proof {
                try device.secrets.setSecret(password, for: .password)
            }
            // Revoking the previous sign-in would end this one.
            try forgetRevocation(of: session.installation)
            try device.store.begin(session)
            try acknowledge(acknowledged.0, acknowledged.1, in: session)
            try forgetUnconfirmed(of: session.installation)
        } catch {
            try? forgetEverything()
            throw error
        }
    }

    private static let severalUsers = "several"

    /// Whether another user has ever been signed in on this installation. The stored digest holds no name.
    private func noteUser(of session: Session) throws(StorageError) -> Bool {
        let user = DigestText.digest("\(session.installation)/\(session.user.lowercased())")
        let served = try device.secrets.secret(.servedUser)
        guard served != user else { return false }
        try device.secrets.setSecret(served == nil ? user : Self.severalUsers, for: .servedUser)
        return served != nil
    }

    /// The stable name of this installation, made on first use.
    func installationID() throws(StorageError) -> InstallationID {
        if let text = try device.secrets.secret(.installationID), let id = InstallationID(text) { return id }
        return try newInstallationID()
    }

    private func newInstallationID() throws(StorageError) -> InstallationID {
        let text = device.identifiers.newIdentifier()
        guard let id = InstallationID(text) else { throw .failed }
        try device.secrets.setSecret(text, for: .installationID)
        return id
    }

    // MARK: Sign-ins of which it is not known whether the server has bound this installation, because its answer was lost.
    //
    // The user sees a failure and is not signed in here, but the server may send this phone their notifications. Only name and password
    // can undo that, since the credential was in the lost answer. So they are stored before the request, and removed as soon as the server
    // has answered. A sign-in with a token is not undone but finished, and its token is not stored.

    struct UnconfirmedSignIn: Codable {
        var installation: InstallationID
        /// Absent, as the password is, for a sign-in with a token.
        var user: String?
        var password: String?
        var at: Timestamp

        var isWithToken: Bool { password == nil }
    }

    /// How long a password is kept for this.
    private static let unconfirmedAge: Duration = .seconds(7 * 86_400)
    /// The most users; the oldest go first.
    private static let unconfirmedLimit = 4

    /// Notes that the server may be about to bind this installation.
    func noteUnconfirmed(_ proof: Authorization, _ installation: InstallationID) throws(StorageError) {
        var attempt = UnconfirmedSignIn(installation: installation, at: device.clock.now)
        if case .password(let name, let password) = proof { (attempt.user, attempt.password) = (name.text, password) }
        let others = unconfirmed().filter { $0.user?.lowercased() != attempt.user?.lowercased() }
        try keepUnconfirmed(Array((others + [attempt]).suffix(Self.unconfirmedLimit)))
    }

    /// What `error` implies: if the server refused, nothing was bound. A sign-in with a token is noted for as long as it is wanted.
    private func settleUnconfirmed(_ before: [UnconfirmedSignIn], of proof: Authorization, after error: RichPushError) {
        guard !isStopped, case .password = proof else { return }
        switch error {
        case .wrongPassword, .refused, .notFound, .badRedirect: try? keepUnconfirmed(before)
        default: break
        }
    }

    /// Removes the note of the sign-in with a token.
    func forgetTokenSignIn() { try? keepUnconfirmed(unconfirmed().filter { !$0.isWithToken }) }

    /// Those that are not too old.
    func unconfirmed() -> [UnconfirmedSignIn] {
        guard let text = (try? device.secrets.secret(.unconfirmedSignIn)) ?? nil,
            let attempts = try? JSONDecoder().decode([UnconfirmedSignIn].self, from: Data(text.utf8))
        else { return [] }
        return attempts.filter { device.clock.now - $0.at < Self.unconfirmedAge }
    }

    private func keepUnconfirmed(_ attempts: [UnconfirmedSignIn]) throws(StorageError) {
        guard !attempts.isEmpty else { return try device.secrets.removeSecret(.unconfirmedSignIn) }
        guard let data = try? JSONEncoder().encode(attempts) else { throw .failed }
        try device.secrets.setSecret(String(decoding: data, as: UTF8.self), for: .unconfirmedSignIn)
    }

    /// A user is signed in on this installation, which ended every other binding of it.
    func forgetUnconfirmed(of installation: InstallationID) throws(StorageError) {
        try keepUnconfirmed(unconfirmed().filter { $0.installation != installation })
    }

    /// Signs out the users that the server may have bound here, unless the installation has a session by now.
    func revokeUnconfirmed(within deadline: Deadline) async {
        for attempt in unconfirmed() where attempt.installation != session?.installation {
            guard let name = attempt.user.flatMap({ UserName($0) }), let password = attempt.password else { continue }
            let call = BackendCall(method: "DELETE", path: APIRoute.installation(attempt.installation))
            do throws(RichPushError) {
                _ = try await client.call(call, as: .password(name, password), within: deadline)
            } catch {
                // A refused password has ended what was bound with it, and a missing device needs no end.
                if error.isTransient { continue }
            }
            // An attempt that was noted meanwhile stays, and during a sign-in all of them do.
            guard !isChangingSession, !isStopped else { return }
            try? keepUnconfirmed(unconfirmed().filter { $0.user != attempt.user || $0.at != attempt.at })
        }
        // Removes entries that are too old.
        guard !isChangingSession, !isStopped, unconfirmed().isEmpty else { return }
        try? device.secrets.removeSecret(.unconfirmedSignIn)
    }

    /// Signs out: nothing of the user stays on the device, at once and without a network. Then the engine sends the server what still
    /// waited, while this installation's credential is valid, and revokes the installation: for a few seconds in total
    /// (`DeviceLimits.signOutDeadline`). A revocation that fails is sent at the next occasion. What waited is not, because keeping it
    /// would keep something of the user.
    ///
    /// Returns what the server has not got. If there is an answer among it, inform the user. The event `undelivered` says the same.
    /// Throws `busy`, and `storage` when something could not be removed from the device, or when the session cannot be read: then
    /// nothing has changed on the device. A sign-in with a token that is under way or waits ends in any case.
    @discardableResult
    public func signOut() async throws(RichPushError) -> SignOutResult {
        let failure = load()
        // A sign-in that comes from here on is another one.
        let token = wanted?.token
        wanted = nil
        await stopSigningIn()
        guard !isChangingSession else { throw .busy }
        // If the session cannot be read, sign-out fails.
        if let failure { throw .storage(failure) }
        let attempt = unconfirmed().last(where: \.isWithToken)
        guard session != nil || attempt != nil else { return SignOutResult() }
        isChangingSession = true
        defer { endChange() }
        forgetTokenSignIn()
        let deadline = Deadline(device.clock, after: configuration.limits.signOutDeadline)
        var result = SignOutResult()
        if let session { result = try await signOut(of: session, within: deadline) }
        await revoke(within: deadline)
        if let attempt, let token { await undo(attempt, token, within: deadline) }
        return result
    }

    private func signOut(of session: Session, within deadline: Deadline) async throws(RichPushError) -> SignOutResult {
        cancelWork()
        let waiting = waitingItems(of: session)
        try storing { () throws(StorageError) in
            try noteRevocation(of: session.installation)
            try forgetEverything()
        }
        self.session = nil
        let unnoted = takeUnnotedReplies()
        await app.notifications.removeAllDelivered()
        await app.notifications.setBadge(0)
        await endActivities()
        device.log.record(DeviceEvent(.signedOut))
        var result = await sendLast(waiting, of: session, within: deadline)
        result.lostReplies += unnoted
        log(result)
        return result
    }

    /// What the server should get before the sign-out. An outbox that cannot be read does not prevent a sign-out.
    func waitingItems(of session: Session) -> [OutboxItem] {
        do throws(StorageError) {
            return try outbox.items(of: session, now: device.clock.now)
        } catch {
            device.log.record(DeviceEvent(.storageFailed, nil, ["reason": "\(error)"]))
            return []
        }
    }

    /// Replies from before the first unlock that were not noted since: they are lost.
    func takeUnnotedReplies() -> Int {
        defer { waitingResponses = [] }
        return waitingResponses.count { response in
            if case .reply = response.action { true } else { false }
        }
    }

    /// Three fifths of the time are for what waited: the revocation can be sent later, this cannot.
    private func sendLast(_ items: [OutboxItem], of session: Session, within deadline: Deadline) async -> SignOutResult {
        guard !items.isEmpty else { return SignOutResult() }
        // A credential that was noted for another installation is another user's.
        let noted = revocations().last { $0.installation == session.installation }
        guard !session.isRejected, let credential = noted?.credential else { return OutboxDelivery.loss(of: items) }
        let delivery = OutboxDelivery(client: client, outbox: outbox, clock: device.clock, log: device.log)
        return await delivery.sendLast(
            items, as: .installation(credential),
            within: deadline.capped(at: configuration.limits.signOutDeadline * 3 / 5))
    }

    func log(_ result: SignOutResult) {
        guard !result.isComplete else { return }
        device.log.record(
            DeviceEvent(.undelivered, nil, ["replies": "\(result.lostReplies)", "notes": "\(result.lostNotes)"]))
    }

    /// The secrets first: without them the rest cannot be used.
    func forgetEverything() throws(StorageError) {
        try device.secrets.removeSecret(.credential)
        try device.secrets.removeSecret(.password)
        try device.secrets.removeSecret(.sealingKey)
        try device.store.wipe()
        try device.cache.wipe()
    }

    // MARK: Sign-outs that the server must get, also those of apps that were removed without one. Each names its installation, and stays noted
    // while another installation has a session.

    struct Revocation: Codable, Equatable {
        var installation: InstallationID
        var credential: String
        var at: Timestamp
    }

    /// How long a sign-out is retried; without use, the credential it needs expires after that time.
    private static let revocationAge: Duration = .seconds(90 * 86_400)
    /// The most installations; the oldest go first.
    private static let revocationLimit = 4

    /// The secrets of a removed app have outlived it: the server still sends to the user who was signed in.
    func noteRemovedApp() throws(StorageError) {
        guard let text = try device.secrets.secret(.installationID), let installation = InstallationID(text) else { return }
        try noteRevocation(of: installation)
    }

    func noteRevocation(of installation: InstallationID) throws(StorageError) {
        guard let credential = try device.secrets.secret(.credential) else { return }
        try noteRevocation(of: installation, with: credential)
    }

    func noteRevocation(of installation: InstallationID, with credential: String) throws(StorageError) {
        let revocation = Revocation(installation: installation, credential: credential, at: device.clock.now)
        let others = revocations().filter { $0.installation != installation }
        try keep(Array((others + [revocation]).suffix(Self.revocationLimit)))
    }

    /// The server has just bound this installation anew.
    func forgetRevocation(of installation: InstallationID) throws(StorageError) {
        try keep(revocations().filter { $0.installation != installation })
    }

    private func keep(_ revocations: [Revocation]) throws(StorageError) {
        guard !revocations.isEmpty else { return try device.secrets.removeSecret(.revocation) }
        guard let data = try? JSONEncoder().encode(revocations) else { throw .failed }
        try device.secrets.setSecret(String(decoding: data, as: UTF8.self), for: .revocation)
    }

    /// Those that are not too old, oldest first. An earlier version stored only one.
    func revocations() -> [Revocation] {
        guard let text = (try? device.secrets.secret(.revocation)) ?? nil else { return [] }
        let data = Data(text.utf8)
        let noted =
            (try? JSONDecoder().decode([Revocation].self, from: data))
            ?? (try? JSONDecoder().decode(Revocation.self, from: data)).map { [$0] } ?? []
        return noted.filter { device.clock.now - $0.at < Self.revocationAge }
    }

    /// Whether the server may still have a user bound here who is not signed in.
    var mayBeBound: Bool { !revocations().isEmpty || !unconfirmed().isEmpty }

    /// Includes entries that are too old to be sent, so that they are removed.
    private var isAnythingNoted: Bool {
        [SecretKey.revocation, .unconfirmedSignIn].contains { ((try? device.secrets.secret($0)) ?? nil) != nil }
    }

    /// Sends the server sign-outs that it may not have got, without blocking the caller.
    func startRevocation() {
        guard revoking == nil, isLoaded, !isChangingSession, !isStopped, isAnythingNoted else { return }
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        revoking = Task {
            await revoke(within: deadline)
            await revokeUnconfirmed(within: deadline)
            revoking = nil
        }
    }

    /// The newest first: a caller may be waiting for that one.
    func revoke(within deadline: Deadline) async {
        for revocation in revocations().reversed() {
            let call = BackendCall(method: "DELETE", path: APIRoute.installation(revocation.installation))
            do throws(RichPushError) {
                _ = try await client.call(call, as: .installation(revocation.credential), within: deadline)
            } catch {
                // A refused credential or a missing device: the server has ended this binding already.
                if error.isTransient { continue }
            }
            try? keep(revocations().filter { $0 != revocation })
        }
        // Removes entries that are too old or unreadable.
        guard !isStopped else { return }
        if revocations().isEmpty { try? device.secrets.removeSecret(.revocation) }
    }
}
