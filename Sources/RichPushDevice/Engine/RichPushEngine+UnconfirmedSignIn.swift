import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sign-ins of which it is not known whether the server has bound this installation, because its answer was lost.
///
/// The user sees a failure and nobody is signed in here, but the server may send this phone what is for them. Only name and
/// password can undo that, since the credential was in the answer. So they are written down before the server is asked, and
/// forgotten as soon as it has said anything.
extension RichPushEngine {
    struct UnconfirmedSignIn: Codable {
        var installation: InstallationID
        var user: String
        var password: String
        var at: Timestamp
    }

    /// How long a password is kept for this.
    private static let unconfirmedAge: Duration = .seconds(7 * 86_400)
    /// Of how many users; the oldest go first.
    private static let unconfirmedLimit = 4

    /// The server may be about to bind this installation.
    func noteUnconfirmed(_ name: UserName, _ password: String, _ installation: InstallationID) throws(StorageError) {
        let attempt = UnconfirmedSignIn(
            installation: installation, user: name.text, password: password, at: device.clock.now)
        let others = unconfirmed().filter { $0.user.lowercased() != name.text.lowercased() }
        try keepUnconfirmed(Array((others + [attempt]).suffix(Self.unconfirmedLimit)))
    }

    /// What `error` says about it: where the server refused, nothing was bound.
    func settleUnconfirmed(_ before: [UnconfirmedSignIn], after error: RichPushError) {
        guard !isStopped else { return }
        switch error {
        case .wrongPassword, .refused, .notFound, .badRedirect: try? keepUnconfirmed(before)
        default: break
        }
    }

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

    /// Somebody is signed in on this installation: whoever else had asked for it is not any more.
    func forgetUnconfirmed(of installation: InstallationID) throws(StorageError) {
        try keepUnconfirmed(unconfirmed().filter { $0.installation != installation })
    }

    /// Signs out whoever the server may have signed in here, unless it is another by now.
    func revokeUnconfirmed(within deadline: Deadline) async {
        for attempt in unconfirmed() where attempt.installation != session?.installation {
            guard let name = UserName(attempt.user) else { continue }
            let call = BackendCall(method: "DELETE", path: APIRoute.installation(attempt.installation))
            do throws(RichPushError) {
                _ = try await client.call(call, as: .password(name, attempt.password), within: deadline)
            } catch {
                // A password that is no longer taken ended what was bound with it, and what is not there needs no end.
                if error.isTransient { continue }
            }
            // What has been written down meanwhile stays, and while somebody signs in all of it.
            guard !isChangingSession, !isStopped else { return }
            try? keepUnconfirmed(unconfirmed().filter { $0.user != attempt.user || $0.at != attempt.at })
        }
        // What is too old goes.
        guard !isChangingSession, !isStopped, unconfirmed().isEmpty else { return }
        try? device.secrets.removeSecret(.unconfirmedSignIn)
    }
}
