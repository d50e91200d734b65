import RichPushModel

extension RichPushEngine {
    /// Signs in the user whom the app has already: asks the app's token provider and hands the token to `signIn(token:)`. An app calls
    /// it for a `state` of `signedOut`, as after the update that brought rich push, or on a restored phone.
    ///
    /// When the provider has no token now, the engine asks it again by itself, as after any transient error. Throws `notSignedIn` when
    /// there is no provider, or it says that the app has no user: then no user is signed in here any more.
    @discardableResult
    public func signIn() async throws(RichPushError) -> Session {
        guard app.signInToken != nil else { throw .notSignedIn }
        if let failure = load() { throw .storage(failure) }
        let installation = try storing { () throws(StorageError) in try installationID() }
        let token: String?
        do throws(RichPushError) {
            token = try await newToken(SignInTokenNeed(installation: installation, user: session?.user))
        } catch {
            if error.isTransient, session == nil, !isChangingSession {
                // The pending sign-in is what asks again, also in the next process.
                try storing { () throws(StorageError) in try noteUnconfirmed(.token(""), installation) }
                startPendingSignIn(after: error)
            }
            throw error
        }
        if let token { return try await signIn(token: token) }
        try await signOut()
        throw .notSignedIn
    }
}
