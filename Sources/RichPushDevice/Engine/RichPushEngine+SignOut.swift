import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// Signs out: nothing of the user stays on the device, at once and without a network. Then the server gets what still waited
    /// for it, while it takes this installation's credential, and is told of the sign-out: for at most a few seconds together
    /// (`DeviceLimits.signOutDeadline`). The sign-out itself is otherwise told at the next occasion; what waited is not, because
    /// keeping it would be keeping something of the user.
    ///
    /// Returns what the server has not got: an answer among it is worth a word to the user. An event `undelivered` says the same.
    /// Throws `busy`, and `storage` when something could not be removed from the device, also because who is signed in cannot be
    /// read: then nothing has changed.
    @discardableResult
    public func signOut() async throws(RichPushError) -> SignOutResult {
        let failure = load()
        guard !isChangingSession else { throw .busy }
        // Who cannot read who is signed in has signed nobody out.
        if let failure { throw .storage(failure) }
        guard let session else { return SignOutResult() }
        isChangingSession = true
        defer { isChangingSession = false }
        cancelWork()
        let waiting = waitingItems(of: session)
        try storing { () throws(StorageError) in
            try noteRevocation(of: session.installation)
            try forgetEverything()
        }
        self.session = nil
        let unsaid = takeUnsaidReplies()
        await app.notifications.removeAllDelivered()
        await app.notifications.setBadge(0)
        device.log.record(DeviceEvent(.signedOut))
        let deadline = Deadline(device.clock, after: configuration.limits.signOutDeadline)
        var result = await sendLast(waiting, of: session, within: deadline)
        result.lostReplies += unsaid
        tell(result)
        await revoke(within: deadline)
        return result
    }

    /// What the server should hear of before the sign-out. An outbox that cannot be read stops nobody from signing out.
    private func waitingItems(of session: Session) -> [OutboxItem] {
        do throws(StorageError) {
            return try outbox.items(of: session, now: device.clock.now)
        } catch {
            device.log.record(DeviceEvent(.storageFailed, nil, ["reason": "\(error)"]))
            return []
        }
    }

    /// Answers from before the first unlock that nobody has written down since: they end here too.
    private func takeUnsaidReplies() -> Int {
        defer { waitingResponses = [] }
        return waitingResponses.count { response in
            if case .reply = response.action { true } else { false }
        }
    }

    /// Three fifths of the time are for what waited: the sign-out can be told later, this cannot.
    private func sendLast(_ items: [OutboxItem], of session: Session, within deadline: Deadline) async -> SignOutResult {
        guard !items.isEmpty else { return SignOutResult() }
        // What was noted of another installation is another user's.
        let noted = revocations().last { $0.installation == session.installation }
        guard !session.isRejected, let credential = noted?.credential else { return OutboxDelivery.loss(of: items) }
        let delivery = OutboxDelivery(client: client, outbox: outbox, clock: device.clock, log: device.log)
        return await delivery.sendLast(
            items, as: .installation(credential),
            within: deadline.capped(at: configuration.limits.signOutDeadline * 3 / 5))
    }

    private func tell(_ result: SignOutResult) {
        guard !result.isComplete else { return }
        device.log.record(
            DeviceEvent(.undelivered, nil, ["replies": "\(result.lostReplies)", "notes": "\(result.lostNotes)"]))
    }

    /// The secrets first: without them nothing that is left could be used.
    func forgetEverything() throws(StorageError) {
        try device.secrets.removeSecret(.credential)
        try device.secrets.removeSecret(.password)
        try device.secrets.removeSecret(.sealingKey)
        try device.store.wipe()
        try device.cache.wipe()
    }
}
