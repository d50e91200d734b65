import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// A sign-out that the server should hear of.
    private struct Revocation: Codable {
        var installation: InstallationID
        var credential: String
        var at: Timestamp
    }

    /// How long an unheard sign-out is repeated; the credential it needs ends by itself after that time without use.
    private static let revocationAge: Duration = .seconds(90 * 86_400)

    /// Signs out: nothing of the user stays on the device, at once and without a network; then the server is told, for at most
    /// a few seconds now and otherwise at the next occasion.
    ///
    /// Throws only when something could not be removed from the device, also because who is signed in cannot be read: then
    /// nothing has changed.
    public func signOut() async throws(RichPushError) {
        if let failure = load() { throw .storage(failure) }
        guard !isChangingSession else { throw .busy }
        guard let session else { return }
        isChangingSession = true
        defer { isChangingSession = false }
        cancelWork()
        try storing { () throws(StorageError) in
            try noteRevocation(of: session)
            try forgetEverything()
        }
        self.session = nil
        await app.notifications.removeAllDelivered()
        await app.notifications.setBadge(0)
        device.log.record(DeviceEvent(.signedOut))
        await revoke(within: Deadline(device.clock, after: configuration.limits.signOutDeadline))
    }

    /// The secrets first: without them nothing that is left could be used.
    func forgetEverything() throws(StorageError) {
        try device.secrets.removeSecret(.credential)
        try device.secrets.removeSecret(.password)
        try device.secrets.removeSecret(.sealingKey)
        try device.store.wipe()
        try device.cache.wipe()
    }

    private func noteRevocation(of session: Session) throws(StorageError) {
        guard let credential = try device.secrets.secret(.credential) else { return }
        let revocation = Revocation(installation: session.installation, credential: credential, at: device.clock.now)
        guard let data = try? JSONEncoder().encode(revocation) else { throw .failed }
        try device.secrets.setSecret(String(decoding: data, as: UTF8.self), for: .revocation)
    }

    /// Whether the server still has to hear that nobody is signed in here.
    var mayBeBound: Bool { ((try? device.secrets.secret(.revocation)) ?? nil) != nil || !unconfirmed().isEmpty }

    /// Tells the server of a sign-out that it may not have heard of, without making anybody wait.
    func startRevocation() {
        guard revoking == nil, isLoaded, session == nil, !isChangingSession else { return }
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        revoking = Task {
            await revoke(within: deadline)
            await revokeUnconfirmed(within: deadline)
            revoking = nil
        }
    }

    private func revoke(within deadline: Deadline) async {
        guard let text = try? device.secrets.secret(.revocation) else { return }
        guard let revocation = try? JSONDecoder().decode(Revocation.self, from: Data(text.utf8)),
            device.clock.now - revocation.at < Self.revocationAge
        else {
            try? device.secrets.removeSecret(.revocation)
            return
        }
        let call = BackendCall(method: "DELETE", path: APIRoute.installation(revocation.installation))
        do throws(RichPushError) {
            _ = try await client.call(call, as: .installation(revocation.credential), within: deadline)
        } catch {
            // A credential that is no longer taken, or nothing there: the server knows already, for with a credential it ends the
            // device that had it.
            if error.isTransient { return }
        }
        guard (try? device.secrets.secret(.revocation)) == text else { return }
        try? device.secrets.removeSecret(.revocation)
    }
}
