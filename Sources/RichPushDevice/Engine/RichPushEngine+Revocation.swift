import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the server should hear of: sign-outs, and apps that were removed without one. They name their installation, and stay noted beside
/// the session of another one.
extension RichPushEngine {
    struct Revocation: Codable, Equatable {
        var installation: InstallationID
        var credential: String
        var at: Timestamp
    }

    /// How long an unheard sign-out is repeated; the credential it needs ends by itself after that time without use.
    private static let revocationAge: Duration = .seconds(90 * 86_400)
    /// Of how many installations; the oldest go first.
    private static let revocationLimit = 4

    /// The secrets of an app that was removed have outlived it: the server still sends to whoever was signed in.
    func noteRemovedApp() throws(StorageError) {
        guard let text = try device.secrets.secret(.installationID), let installation = InstallationID(text) else { return }
        try noteRevocation(of: installation)
    }

    func noteRevocation(of installation: InstallationID) throws(StorageError) {
        guard let credential = try device.secrets.secret(.credential) else { return }
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

    /// Those that are not too old, oldest first. Earlier versions noted one.
    func revocations() -> [Revocation] {
        guard let text = (try? device.secrets.secret(.revocation)) ?? nil else { return [] }
        let data = Data(text.utf8)
        let noted =
            (try? JSONDecoder().decode([Revocation].self, from: data))
            ?? (try? JSONDecoder().decode(Revocation.self, from: data)).map { [$0] } ?? []
        return noted.filter { device.clock.now - $0.at < Self.revocationAge }
    }

    /// Whether the server still has to hear of somebody who is not signed in here.
    var mayBeBound: Bool { !revocations().isEmpty || !unconfirmed().isEmpty }

    /// Also what is too old to be told, and goes.
    private var isAnythingNoted: Bool {
        [SecretKey.revocation, .unconfirmedSignIn].contains { ((try? device.secrets.secret($0)) ?? nil) != nil }
    }

    /// Tells the server of sign-outs that it may not have heard of, without making anybody wait.
    func startRevocation() {
        guard revoking == nil, isLoaded, !isChangingSession, !isStopped, isAnythingNoted else { return }
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        revoking = Task {
            await revoke(within: deadline)
            await revokeUnconfirmed(within: deadline)
            revoking = nil
        }
    }

    /// The newest first: that is the one that somebody may be waiting for.
    func revoke(within deadline: Deadline) async {
        for revocation in revocations().reversed() {
            let call = BackendCall(method: "DELETE", path: APIRoute.installation(revocation.installation))
            do throws(RichPushError) {
                _ = try await client.call(call, as: .installation(revocation.credential), within: deadline)
            } catch {
                // A credential that is no longer taken, or nothing there: the server knows already, for with a credential it ends the
                // device that had it.
                if error.isTransient { continue }
            }
            try? keep(revocations().filter { $0 != revocation })
        }
        // What is too old goes, and what cannot be read.
        guard !isStopped else { return }
        if revocations().isEmpty { try? device.secrets.removeSecret(.revocation) }
    }
}
