import RichPushModel
import RichPushSealing

/// End-to-end encrypted notifications: the key of this installation, and what came sealed without a push.
extension RichPushEngine {
    /// How many sealed notifications one look at the inbox opens; the others open when they are tapped.
    private static var openingLimit: Int { 20 }

    /// What this device's public key looks like to people, for comparing it with what a sender sees: 8 groups of 4 hexadecimal
    /// digits. Absent when nobody is signed in or nothing sealed is opened here.
    public var sealingFingerprint: String? {
        guard session != nil, configuration.opensSealedContent,
            let text = (try? device.secrets.secret(.sealingKey)) ?? nil
        else { return nil }
        return try? SealingPrivateKey(secretText: text).publicKey.fingerprint
    }

    /// The public key, made on first use after each sign-in, and anew when it was lost: what was sealed for the one before
    /// opens no more.
    func sealingKey() -> String? {
        guard configuration.opensSealedContent, session != nil || isChangingSession, !Task.isCancelled else { return nil }
        do throws(StorageError) {
            if let text = try device.secrets.secret(.sealingKey), let key = try? SealingPrivateKey(secretText: text) {
                return key.publicKey.text
            }
            let key = SealingPrivateKey()
            try device.secrets.setSecret(key.secretText, for: .sealingKey)
            return key.publicKey.text
        } catch {
            device.log.record(DeviceEvent(.storageFailed, nil, ["reason": "\(error)"]))
            return nil
        }
    }

    /// Opens what the inbox lists and no push has brought, the newest first. One that does not open keeps its neutral words.
    func openSealed(_ entries: [InboxEntry], in session: Session, within deadline: Deadline) async {
        let closed = entries.filter { entry in
            entry.kind == .sealed && ((try? records.words(entry.id, of: session.id)) ?? nil) == nil
        }
        for entry in closed.prefix(Self.openingLimit) {
            guard isCurrent(session), deadline.remaining > .zero else { return }
            do throws(RichPushError) {
                _ = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                    try await self.fetcher.opened(entry, in: session, as: authorization, within: deadline)
                }
            } catch {
                device.log.record(DeviceEvent(.fetchFailed, entry.id, ["reason": error.code]))
                if error.isTransient { return }
            }
        }
    }
}
