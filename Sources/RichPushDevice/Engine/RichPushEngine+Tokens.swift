import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// Sign-in with a token that the app has from its own accounts. The token is exchanged for the installation's credential and kept nowhere:
// in memory until the server has answered, and never on the device. When another is needed, the app's provider is asked.
//
// At most one such sign-in is wanted, the last one. It is noted on the device, without its token, before the server is asked, and the note
// goes when it ends:
// - the server answered its token, with a credential or with a refusal for good;
// - the provider says that the app has no user any more, which ends a session too;
// - a sign-out or another sign-in came, which stops the work on this one first;
// - the process ended, in an app without a provider. With one the next process finds the note, and asks the provider.

/// A sign-in with a token that no server has answered yet.
struct WantedSignIn: Sendable {
    let id = UUID()
    /// The newest that the app or its provider gave, in memory only; absent when an earlier process had it.
    var token: String?
}

extension RichPushEngine {
    /// How long a token may be, in bytes.
    private static var longestToken: Int { 16 << 10 }

    /// Signs the app's user in with a token: of an issuer that the server trusts, or a one-time token (`clt_…`). The server exchanges it
    /// for this installation's credential, with which everything else is done.
    ///
    /// To be called when the app's user has signed in to the app. While the same user is signed in here, the call only renews the
    /// credential. Another user gets the installation: what waited for the server is sent first, then everything of the user before is
    /// removed from the device.
    ///
    /// After a transient error, such as `offline`, the engine tries again by itself until the server has answered, at growing intervals,
    /// at every launch and `refresh`, and when what it waited for is over. A sign-out or another sign-in ends that. The event `signedIn`
    /// reports its success, and `signInFailed` its failure. Throws `badToken`, `tokenRejected`, `refused` (a user name that another
    /// account has), `notSignedIn` when a sign-out or another sign-in came meanwhile, and whatever the network and the server give.
    @discardableResult
    public func signIn(token: String) async throws(RichPushError) -> Session {
        guard Self.isSound(token) else { throw .badToken }
        return try await signIn(WantedSignIn(token: token), asksApp: false)
    }

    /// Signs in the user whom the app has already: asks the app's token provider and goes on as `signIn(token:)` does. An app calls it for
    /// a `state` of `signedOut`, as after the update that brought rich push, or on a restored phone.
    ///
    /// Throws `notSignedIn` when there is no provider, or it says that the app has no user: then no user is signed in here any more.
    @discardableResult
    public func signIn() async throws(RichPushError) -> Session {
        guard app.signInToken != nil else { throw .notSignedIn }
        return try await signIn(WantedSignIn(), asksApp: true)
    }

    private func signIn(_ attempt: WantedSignIn, asksApp: Bool) async throws(RichPushError) -> Session {
        wanted = attempt
        if let failure = load() {
            if !RichPushError.storage(failure).isTransient { end(attempt) }
            throw .storage(failure)
        }
        await stopSigningIn()
        guard wanted?.id == attempt.id else { throw .notSignedIn }
        let task = Task { await signInOnce(attempt, asksApp: asksApp) }
        signingIn = task
        if let failure = await task.value {
            guard wanted?.id == attempt.id || !failure.isTransient else { throw .notSignedIn }
            throw failure
        }
        guard let session else { throw .notSignedIn }
        return session
    }

    private func signInOnce(_ attempt: WantedSignIn, asksApp: Bool) async -> RichPushError? {
        let failure = await answer(to: attempt, asksApp: asksApp)
        guard !Task.isCancelled else { return failure }
        signingIn = nil
        startWantedSignIn(after: failure)
        return failure
    }

    /// Whether a sign-in with a token waits for the server.
    public var isSignInPending: Bool { isLoaded && wanted != nil }

    /// A token becomes part of a header.
    private static func isSound(_ token: String) -> Bool {
        (1...longestToken).contains(token.utf8.count) && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Asks the server, and `asksApp` the app's provider first: it may have a newer token. Returns why the attempt failed; after a failure
    /// for good it is not wanted any more.
    private func answer(to attempt: WantedSignIn, asksApp: Bool) async -> RichPushError? {
        var attempt = attempt
        do throws(RichPushError) {
            if asksApp, app.signInToken != nil {
                let installation = try storing { () throws(StorageError) in try installationID() }
                if attempt.token == nil {
                    // For the next process, in case that the provider has none now.
                    try storing { () throws(StorageError) in try noteUnconfirmed(.token(""), installation) }
                }
                let token = try await newToken(SignInTokenNeed(installation: installation, user: session?.user))
                guard wanted?.id == attempt.id, !Task.isCancelled else { return nil }
                guard let token else {
                    // The app has no user any more: a session ends, whose credential the server may still take.
                    if let session { try await endHere(session) }
                    throw .notSignedIn
                }
                attempt.token = token
                wanted = attempt
            }
            guard let token = attempt.token else { throw .tokenUnavailable }
            try await exchange(token)
            return nil
        } catch {
            if !error.isTransient { end(attempt) }
            return error
        }
    }

    private func exchange(_ token: String) async throws(RichPushError) {
        let session = session
        try storing { () throws(StorageError) in
            let installation = if let session { session.installation } else { try installationID() }
            try noteUnconfirmed(.token(token), installation)
        }
        guard let session else {
            _ = try await signIn(as: .token(token))
            return
        }
        try await renew(session, with: token)
    }

    private func renew(_ session: Session, with token: String) async throws(RichPushError) {
        guard !isChangingSession, !isStopped else { throw .busy }
        // The credential before ends with the exchange, and the token may be another user's.
        await flush(within: Deadline(device.clock, after: configuration.limits.signOutDeadline))
        _ = await renewal?.value
        guard !Task.isCancelled else { throw .timedOut }
        if isCurrent(session) {
            guard let failure = await startRenewal(in: session, as: .token(token)).value else { return }
            guard !isCurrent(session), !Task.isCancelled else { throw failure }
        }
        // The session ended meanwhile, because the app or the server said so.
        try await exchange(token)
    }

    // MARK: What is wanted

    /// Finds what an earlier process wanted. Without a provider there is no token for it any more.
    func loadWantedSignIn() {
        guard wanted == nil, unconfirmed().contains(where: \.isWithToken) else { return }
        if app.signInToken == nil { forgetTokenSignIn() } else { wanted = WantedSignIn() }
    }

    private func end(_ attempt: WantedSignIn) {
        guard !isStopped, wanted == nil || wanted?.id == attempt.id else { return }
        wanted = nil
        forgetTokenSignIn()
    }

    /// The server has given a credential for this token.
    func endSignIn(with proof: Authorization) {
        guard case .token(let token) = proof, wanted == nil || wanted?.token == token else { return }
        end(wanted ?? WantedSignIn(token: token))
    }

    /// Goes on with it, without blocking the caller.
    func startWantedSignIn(after failure: RichPushError? = nil) {
        guard signingIn == nil, isLoaded, !isChangingSession, !isStopped, wanted != nil else { return }
        signingIn = Task { await signInUntilAnswered(after: failure) }
    }

    private func signInUntilAnswered(after first: RichPushError?) async -> RichPushError? {
        var (retry, failure) = (RetrySchedule(), first)
        repeat {
            if let failure {
                guard let pause = retry.next(fraction: device.identifiers.fraction(), asked: failure.pause),
                    (try? await device.clock.sleep(for: pause)) != nil
                else { break }
            }
            guard let wanted else { break }
            failure = await answer(to: wanted, asksApp: true)
        } while failure?.isTransient == true && !Task.isCancelled
        guard !Task.isCancelled else { return failure }
        signingIn = nil
        if let failure, !failure.isTransient { device.log.record(DeviceEvent(.signInFailed, nil, ["reason": failure.code])) }
        return failure
    }

    /// Waits until no work on such a sign-in is under way.
    func stopSigningIn() async {
        while let task = signingIn {
            task.cancel()
            // It may be waiting for this.
            renewal?.cancel()
            renewal = nil
            _ = await task.value
            if signingIn == task { signingIn = nil }
        }
    }

    /// The server may have bound this installation without an answer. A token that is still in memory gets the credential with which that
    /// is undone. Otherwise the next sign-in on this installation ends it; until then pushes show neutral text.
    func undo(_ attempt: UnconfirmedSignIn, _ token: String, within deadline: Deadline) async {
        let (id, update) = (attempt.installation, await plainUpdate())
        guard let answer = try? await put(update, installation: id, as: .token(token), within: deadline),
            let credential = answer.credential
        else { return }
        try? noteRevocation(of: id, with: credential)
        await revoke(within: deadline)
    }

    // MARK: A credential that the server refuses

    /// What gets a new credential: a new token of the app, or the kept password of an app without a provider.
    func renewalProof(in session: Session) async throws(RichPushError) -> Authorization {
        guard app.signInToken != nil else { return try passwordAuthorization(in: session) }
        let need = SignInTokenNeed(installation: session.installation, user: session.user)
        if let token = try await newToken(need) { return .token(token) }
        guard isCurrent(session) else { throw .notSignedIn }
        try await end(session)
        throw .notSignedIn
    }

    /// Asks the app for a token; `nil` when it has no user any more.
    func newToken(_ need: SignInTokenNeed) async throws(RichPushError) -> String? {
        guard let provider = app.signInToken else { throw .tokenUnavailable }
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let answer = await deadline.run { () async -> Result<String?, RichPushError> in
            do { return .success(try await provider(need)) } catch { return .failure(.tokenUnavailable) }
        }
        guard let token = try (answer ?? .failure(.tokenUnavailable)).get() else { return nil }
        guard Self.isSound(token) else { throw .badToken }
        return token
    }

    /// A session that the server refused goes on as soon as the app has a token for it.
    func reviveSession() async {
        load()
        guard let session, session.isRejected, app.signInToken != nil, !isChangingSession, !isStopped else { return }
        _ = await (renewal ?? startRenewal(in: session)).value
    }

    /// The server keeps this installation for the session's user, since it does not know the device by its token: it has changed, or the
    /// system has not given one yet. But it has taken the other user's token. So the session ends, its revocation frees the
    /// installation, and the other user is signed in.
    func giveWay(_ session: Session) async throws(RichPushError) {
        // The token came from the provider, which is asked again.
        if wanted == nil { wanted = WantedSignIn() }
        try await endHere(session)
        startWantedSignIn()
    }

    /// As a sign-out without the call of the app.
    private func endHere(_ session: Session) async throws(RichPushError) {
        try storing { () throws(StorageError) in try noteRevocation(of: session.installation) }
        try await end(session)
        startRevocation()
    }

    /// The app has no user any more: as a sign-out, for a server that refuses the credential already.
    private func end(_ session: Session) async throws(RichPushError) {
        let lost = try forget(session)
        device.log.record(DeviceEvent(.signedOut))
        await clearNotifications(lost)
    }

    /// The app's token is another user's than the session's, and the server has given them this installation: their session begins.
    func replace(
        _ session: Session, _ proof: Authorization, acknowledged: (update: InstallationUpdate, answer: InstallationAnswer)
    ) async throws(RichPushError) {
        // If the process ends in between, the next one asks the app.
        try storing { () throws(StorageError) in try noteUnconfirmed(proof, session.installation) }
        let lost = try forget(session)
        device.log.record(DeviceEvent(.signedOut))
        _ = try begin(on: session.installation, proof, acknowledged: acknowledged)
        await clearNotifications(lost)
        startRegistration()
        startActivityReport()
    }

    /// Removes a session from the device, and returns what the server has not got of it.
    private func forget(_ session: Session) throws(RichPushError) -> SignOutResult {
        cancelWork()
        var lost = OutboxDelivery.loss(of: waitingItems(of: session))
        try storing { () throws(StorageError) in try forgetEverything() }
        self.session = nil
        lost.lostReplies += takeUnnotedReplies()
        return lost
    }

    private func clearNotifications(_ lost: SignOutResult) async {
        await app.notifications.removeAllDelivered()
        await app.notifications.setBadge(0)
        await endActivities()
        log(lost)
    }
}
