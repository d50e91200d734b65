import RichPushModel

// Sign-in with a token that the app has from its own accounts. The token is exchanged for the installation's credential and kept nowhere:
// in memory until the server has answered, and never on the device. When another is needed, the app's provider is asked.

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
    /// After a transient error, such as `offline`, the engine tries again by itself until the server has answered, at growing intervals
    /// and at every launch and `refresh`; `signOut` ends that. The event `signedIn` reports its success. Throws `badToken`,
    /// `tokenRejected`, `refused` (a user name that another account has), `busy`, and whatever the network and the server give.
    @discardableResult
    public func signIn(token: String) async throws(RichPushError) -> Session {
        guard Self.isSound(token) else { throw .badToken }
        if let failure = load() { throw .storage(failure) }
        await stopPendingSignIn()
        pendingToken = nil
        do throws(RichPushError) {
            return try await exchange(token)
        } catch {
            if error.isTransient, error != .busy {
                pendingToken = token
                startPendingSignIn(after: error)
            }
            throw error
        }
    }

    private func exchange(_ token: String) async throws(RichPushError) -> Session {
        if let session { return try await renew(session, with: token) }
        return try await signIn(as: .token(token))
    }

    /// Whether a sign-in with a token waits for the server.
    public var isSignInPending: Bool {
        isLoaded && (pendingToken != nil || session == nil && unconfirmed().contains { $0.isWithToken })
    }

    /// A token becomes part of a header.
    private static func isSound(_ token: String) -> Bool {
        (1...longestToken).contains(token.utf8.count) && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private func renew(_ session: Session, with token: String) async throws(RichPushError) -> Session {
        guard !isChangingSession, !isStopped else { throw .busy }
        // The credential before ends with the exchange, and the token may be another user's.
        await flush(within: Deadline(device.clock, after: configuration.limits.signOutDeadline))
        _ = await renewal?.value
        guard isCurrent(session) else { throw .busy }
        if let failure = await startRenewal(in: session, as: .token(token)).value { throw failure }
        guard let now = self.session else { throw .notSignedIn }
        pendingToken = nil
        startRegistration()
        return now
    }

    // MARK: A sign-in that no server has answered. Without a provider it ends with the process, because its token is in memory only.

    /// Goes on with it, without blocking the caller.
    func startPendingSignIn(after failure: RichPushError? = nil) {
        guard signingIn == nil, !isChangingSession, !isStopped, isSignInPending, pendingToken != nil || app.signInToken != nil
        else { return }
        signingIn = Task { await signInUntilAnswered(after: failure) }
    }

    private func signInUntilAnswered(after first: RichPushError?) async {
        var (retry, failure) = (RetrySchedule(), first)
        repeat {
            if let failure {
                guard failure.isTransient,
                    let pause = retry.next(fraction: device.identifiers.fraction(), asked: failure.pause),
                    (try? await device.clock.sleep(for: pause)) != nil
                else { break }
            }
            do throws(RichPushError) {
                try await finishSignIn()
                failure = nil
            } catch { failure = error }
        } while failure != nil && isSignInPending && !Task.isCancelled
        guard !Task.isCancelled else { return }
        signingIn = nil
        if let failure, !failure.isTransient { pendingToken = nil }
    }

    /// A provider may have a newer token than the one that was given.
    private func finishSignIn() async throws(RichPushError) {
        let installation = try storing { () throws(StorageError) in try installationID() }
        var token = pendingToken
        if app.signInToken != nil {
            token = try await newToken(SignInTokenNeed(installation: installation, user: session?.user))
        }
        guard isSignInPending, !Task.isCancelled else { return }
        guard let token else {
            pendingToken = nil
            return forgetTokenSignIn()
        }
        _ = try await exchange(token)
    }

    /// Waits until no such attempt is under way.
    func stopPendingSignIn() async {
        signingIn?.cancel()
        await signingIn?.value
        signingIn = nil
    }

    /// The user is not to be signed in any more. The server may have done it without an answer: a token that is still in memory then gets
    /// the credential with which that is undone. Otherwise the next sign-in on this installation ends it; until then pushes show neutral
    /// text.
    func abandonSignIn() async {
        await stopPendingSignIn()
        let token = pendingToken
        pendingToken = nil
        guard let attempt = unconfirmed().last(where: \.isWithToken) else { return }
        forgetTokenSignIn()
        guard let token else { return }
        let deadline = Deadline(device.clock, after: configuration.limits.signOutDeadline)
        let (id, update) = (attempt.installation, await installationUpdate())
        guard let answer = try? await put(update, installation: id, as: .token(token), within: deadline),
            let credential = answer.credential
        else { return }
        let call = BackendCall(method: "DELETE", path: APIRoute.installation(id))
        _ = try? await client.call(call, as: .installation(credential), within: deadline)
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
        let lost = try forget(session)
        device.log.record(DeviceEvent(.signedOut))
        _ = try begin(on: session.installation, proof, acknowledged: acknowledged)
        await clearNotifications(lost)
        // The tags that were sent are those of the user before.
        startRegistration()
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
        log(lost)
    }
}
