import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// Sends a push, as the rich push tutorial's button does: without a request it is that call without a body. Needs the
    /// password, since the narrow credential may not send (`RichPushConfiguration.keepsPasswordForSending`).
    ///
    /// Returns the number of the new notification, if the server returned it.
    @discardableResult
    public func sendPush(_ request: SendRequest? = nil) async throws(RichPushError) -> RichID? {
        let (session, authorization) = try sender()
        var call = BackendCall(method: "POST", path: APIRoute.notifications)
        if let request { call = try .json("POST", APIRoute.notifications, request) }
        call.headers["idempotency-key"] = device.identifiers.newIdentifier()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let response = try await client.call(call, as: authorization, within: deadline)
        guard isCurrent(session) else { throw .notSignedIn }
        let answer = try? JSONDecoder().decode(SendAnswer.self, from: response.body)
        device.log.record(DeviceEvent(.sent, answer?.id))
        return answer?.id
    }

    /// Stores content on the server, to be named in `contentID` of a later send.
    /// `fileName` is the name that its readers see; absent leaves it without one.
    public func upload(
        _ content: Data, mediaType: String, fileName: String? = nil
    ) async throws(RichPushError) -> ContentAnswer {
        let (_, authorization) = try sender()
        var call = BackendCall(method: "POST", path: APIRoute.content, body: content, mediaType: mediaType)
        if let fileName { call.headers["x-file-name"] = Self.escaped(fileName) }
        let deadline = Deadline(device.clock, after: configuration.limits.openDeadline)
        return try await client.value(ContentAnswer.self, of: call, as: authorization, within: deadline)
    }

    private func sender() throws(RichPushError) -> (Session, Authorization) {
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        return (session, try passwordAuthorization(in: session))
    }

    /// Sends what waits, without blocking the caller.
    func startFlush() {
        needsFlush = true
        guard flushing == nil, let session = activeSession else { return }
        let deadline = Deadline(device.clock, after: configuration.limits.receiptDeadline)
        flushing = Task { await sendOutbox(in: session, within: deadline) }
    }

    /// Sends what waits, for as long as `deadline` allows; what does not get through stays.
    func flush(within deadline: Deadline) async {
        if let flushing { _ = await deadline.run { await flushing.value } }
        guard let session = activeSession, deadline.remaining > .zero else { return }
        let running = flushing ?? Task { await sendOutbox(in: session, within: deadline) }
        flushing = running
        _ = await deadline.run { await running.value }
    }

    private func sendOutbox(in session: Session, within deadline: Deadline) async {
        let delivery = OutboxDelivery(client: client, outbox: outbox, clock: device.clock, log: device.log)
        repeat {
            needsFlush = false
            let refused: [RichID]? = try? await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                do throws(RichPushError) {
                    try await delivery.flush(of: session, as: authorization, within: deadline)
                } catch {
                    // A failure that concerns receipts is no reason to hold a reply back.
                    guard case .serverFailed = error else { throw error }
                }
                return try await delivery.sendReplies(of: session, as: authorization, within: deadline)
            }
            guard let refused else { break }
            for id in refused { await notifyFailedReply(to: id, in: session) }
        } while needsFlush && !Task.isCancelled
        if !Task.isCancelled { flushing = nil }
    }

    // MARK: A reply that the user writes in a notification, without opening the app

    /// Notes a reply and sends it, now or as soon as the server can be reached. A reply also marks the notification as read.
    ///
    /// A notification informs the user when a reply cannot be delivered. So it does at once for a reply to an end-to-end encrypted
    /// notification: the reply would not be encrypted, and the server must not read it.
    func reply(_ text: String, to id: RichID, of kind: ContentKind?, in session: Session) async {
        let text = text.withoutControls.trimmingBlanks
        guard !text.isEmpty else { return }
        let stored = (try? records.stored(id, of: session.id)) ?? nil
        // When the details could not be fetched, only the push says that it is sealed.
        guard stored?.kind != .sealed, kind != .sealed else { return await notifyFailedReply(to: id, in: session) }
        note(.action, action: PushEnvelope.replyAction, of: id, in: session)
        do throws(StorageError) {
            try outbox.addReply(
                Reply(id: device.identifiers.newIdentifier(), text: text), to: id, at: device.clock.now, of: session)
            try noteRead(id, in: session)
        } catch {
            device.log.record(DeviceEvent(.storageFailed, id, ["reason": "\(error)"]))
            return await notifyFailedReply(to: id, in: session)
        }
        await updateBadge(in: session)
        await flush(within: Deadline(device.clock, after: configuration.limits.callDeadline))
    }

    /// Informs the user that the reply is not delivered, also in a session that the server has ended.
    func notifyFailedReply(to id: RichID, in session: Session) async {
        guard isCurrent(session) else { return }
        let notification = LocalNotification(
            identifier: "reply-\(id)", richID: id, kind: .text, content: NotificationContent(body: configuration.replyFailedText))
        do throws(PresentationError) {
            try await app.notifications.present(notification)
        } catch {
            device.log.record(DeviceEvent(.presentFailed, id, ["reason": "\(error)"]))
        }
    }
}

extension String {
    /// Without control characters, which some keyboards and pasteboards insert and the server refuses.
    fileprivate var withoutControls: String {
        var text = self
        text.unicodeScalars.removeAll(where: TextRule.isControl)
        return text
    }

    /// Without white space at either end.
    fileprivate var trimmingBlanks: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
