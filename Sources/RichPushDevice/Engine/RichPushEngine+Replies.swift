import RichPushModel

/// What the user answers in a notification, without opening the app.
extension RichPushEngine {
    /// Writes an answer down and sends it, now or as soon as the server can be reached. Who answered has read it.
    ///
    /// What cannot be delivered for good is told to the user by a notification. So is the answer to an end-to-end encrypted
    /// notification, at once: the answer would not be encrypted, and nobody has said that the server may read it.
    func reply(_ text: String, to id: RichID, of kind: ContentKind?, in session: Session) async {
        let words = text.withoutControls.trimmingBlanks
        guard !words.isEmpty else { return }
        let stored = (try? records.stored(id, of: session.id)) ?? nil
        // Of what could not be fetched the push alone says that it is sealed.
        guard stored?.kind != .sealed, kind != .sealed else { return await tellFailedReply(to: id, in: session) }
        note(.action, action: PushEnvelope.replyAction, of: id, in: session)
        do throws(StorageError) {
            try outbox.addReply(
                Reply(id: device.identifiers.newIdentifier(), text: words), to: id, at: device.clock.now, of: session)
            try noteRead(id, in: session)
        } catch {
            device.log.record(DeviceEvent(.storageFailed, id, ["reason": "\(error)"]))
            return await tellFailedReply(to: id, in: session)
        }
        await updateBadge(in: session)
        await flush(within: Deadline(device.clock, after: configuration.limits.callDeadline))
    }

    /// The answer goes no further: its user should know, also in a session that the server has ended.
    func tellFailedReply(to id: RichID, in session: Session) async {
        guard isCurrent(session) else { return }
        let notice = LocalNotice(
            identifier: "reply-\(id)", richID: id, kind: .text, content: NoticeContent(body: configuration.replyFailedText))
        do throws(PresentationError) {
            try await app.notifications.present(notice)
        } catch {
            device.log.record(DeviceEvent(.presentFailed, id, ["reason": "\(error)"]))
        }
    }
}

extension String {
    /// Without what some keyboards and pasteboards bring along, what nobody can read and the server refuses.
    fileprivate var withoutControls: String {
        var text = self
        text.unicodeScalars.removeAll(where: WordsRule.isControl)
        return text
    }

    /// Without white space at either end.
    fileprivate var trimmingBlanks: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
