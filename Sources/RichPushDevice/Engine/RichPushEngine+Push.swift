import RichPushModel

extension RichPushEngine {
    /// A push that woke the app: fetches its content and, unless the system shows the push itself, presents it. Returns exactly
    /// once, within `budget`, whoever is signed in and whatever the push holds.
    ///
    /// A repeat of a push that is under way gets that one's answer; a repeat of one that was shown does nothing.
    public func handleBackgroundPush(_ envelope: PushEnvelope, budget: Duration) async -> BackgroundResult {
        guard let session = activeSession else {
            device.log.record(DeviceEvent(.ignored, envelope.id, ["reason": isLoaded ? "not-signed-in" : "locked"]))
            return isLoaded ? .noData : .failed
        }
        if session.owner(of: envelope.id, marked: envelope.subject) == .another {
            device.log.record(DeviceEvent(.ignored, envelope.id, ["reason": "another-user"]))
            return .noData
        }
        let running = pushes[envelope.id]
        if running != nil { device.log.record(DeviceEvent(.repeated, envelope.id)) }
        let task = running ?? start(envelope, in: session, budget: budget)
        // The steps keep their deadlines; whoever is asked to show something may not, and shall not cost the answer.
        return await Deadline(device.clock, after: budget).run { await task.value } ?? .failed
    }

    private func start(_ envelope: PushEnvelope, in session: Session, budget: Duration) -> Task<BackgroundResult, Never> {
        let deadline = Deadline(device.clock, after: max(.zero, budget - configuration.limits.presentationReserve))
        let task = Task {
            let result = await handle(envelope, in: session, within: deadline)
            if !Task.isCancelled { pushes[envelope.id] = nil }
            return result
        }
        pushes[envelope.id] = task
        return task
    }

    private func handle(_ envelope: PushEnvelope, in session: Session, within deadline: Deadline) async -> BackgroundResult {
        if !envelope.hasAlert, (try? records.wasShown(envelope.id, of: session.id)) == true {
            device.log.record(DeviceEvent(.repeated, envelope.id))
            return .noData
        }
        note(.delivered, of: envelope.id, in: session)
        startFlush()
        let key = RecordKey(.claims, "\(envelope.id)", of: session.id)
        let expiry = device.clock.now + deadline.remaining + .seconds(5)
        let claim = (try? device.store.claim(key, until: expiry, now: device.clock.now)) ?? nil
        defer { if let claim { try? device.store.release(claim) } }
        let result = await fetchAndPresent(envelope, isOurs: claim != nil, in: session, within: deadline)
        await flush(within: deadline.capped(at: configuration.limits.receiptDeadline))
        return result
    }

    private func fetchAndPresent(
        _ envelope: PushEnvelope, isOurs: Bool, in session: Session, within deadline: Deadline
    ) async -> BackgroundResult {
        do throws(RichPushError) {
            guard isOurs else { throw .claimed }
            let entry = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                try await self.fetcher.details(of: envelope.id, in: session, as: authorization, within: deadline)
            }
            let warmed = await warm(entry, in: session, within: deadline)
            guard isCurrent(session) else { return .noData }
            if case .failure(let error) = warmed { fail(envelope.id, error, in: session) }
            if !envelope.hasAlert {
                let picture = await picture(for: entry, warmed: try? warmed.get(), in: session, within: deadline)
                await present(entry, with: picture, in: session)
            }
            await updateBadge(in: session)
            return if case .failure = warmed { .failed } else { .newData }
        } catch {
            return await fallBack(envelope, error, in: session)
        }
    }

    /// Fetches what a later tap will open, if it is small enough for the background; else the small variant, else nothing.
    private func warm(
        _ entry: InboxEntry, in session: Session, within deadline: Deadline
    ) async -> Result<CachedContent?, RichPushError> {
        let limit = await backgroundLimit()
        let fetched: Result<CachedContent, RichPushError>
        if let content = entry.content, content.byteCount <= limit {
            fetched = await fetch(content, of: entry.id, variant: .original, in: session, within: deadline)
        } else if let thumb = entry.thumb, thumb.byteCount <= limit {
            fetched = await fetch(thumb, of: entry.id, variant: .thumb, in: session, within: deadline)
        } else {
            return .success(nil)
        }
        if case .success = fetched { note(.fetched, of: entry.id, in: session) }
        return fetched.map { $0 }
    }

    /// Less while the user saves power: what is large can wait for a tap.
    private func backgroundLimit() async -> Int64 {
        let limits = configuration.limits
        let isSaving = await app.environment.isSavingPower()
        return isSaving ? min(limits.maximumSavingBytes, limits.maximumBackgroundBytes) : limits.maximumBackgroundBytes
    }

    /// What the system can show with the notification: what was fetched for the tap, else the small variant, which is all that
    /// there is to see of a link, a coupon, a document or a film that is too long.
    private func picture(
        for entry: InboxEntry, warmed: CachedContent?, in session: Session, within deadline: Deadline
    ) async -> CachedContent? {
        if let warmed, AttachmentMaker.isShowable(mediaType: warmed.mediaType, byteCount: warmed.byteCount) { return warmed }
        guard let thumb = entry.thumb, thumb.byteCount <= (await backgroundLimit()),
            AttachmentMaker.isShowable(mediaType: thumb.mediaType, byteCount: thumb.byteCount)
        else { return warmed }
        return (try? await fetch(thumb, of: entry.id, variant: .thumb, in: session, within: deadline).get()) ?? warmed
    }

    /// Nothing could be fetched. What is not for this user is not shown; otherwise the push's own words are better than nothing.
    private func fallBack(_ envelope: PushEnvelope, _ error: RichPushError, in session: Session) async -> BackgroundResult {
        guard isCurrent(session) else { return .noData }
        if error == .notFound {
            device.log.record(DeviceEvent(.ignored, envelope.id, ["reason": error.code]))
            return .noData
        }
        if error == .claimed, envelope.hasAlert { return .noData }
        fail(envelope.id, error, in: session)
        let mayShow = configuration.showsTextWhenFetchFails && error != .credentialRejected
        guard mayShow, !envelope.hasAlert else { return .failed }
        // Beside a seal nothing has words that were sealed; on a shared phone they may be another user's, and nobody is asked.
        let isProven = session.mayShowWords(of: envelope.id, marked: envelope.subject)
        let isNeutral = envelope.message.isEmpty || envelope.kind == .sealed || !isProven
        let words = isNeutral ? configuration.neutralText : envelope.message
        await show(
            NoticeContent(body: words, category: PushEnvelope.category, isNeutral: isNeutral), of: envelope.id,
            kind: envelope.kind, in: session, isProven: isProven)
        return .failed
    }

    private func fail(_ id: RichID, _ error: RichPushError, in session: Session) {
        device.log.record(DeviceEvent(.fetchFailed, id, ["reason": error.code]))
        note(.failed, action: error.code, of: id, in: session)
    }

    /// Writes a receipt down; it is sent at the next occasion.
    func note(_ kind: Receipt.Kind, action: String? = nil, of id: RichID, in session: Session) {
        let receipt = Receipt(richID: id, kind: kind, action: action, at: device.clock.now)
        do throws(StorageError) {
            try outbox.add(receipt, of: session)
        } catch {
            device.log.record(DeviceEvent(.storageFailed, id, ["reason": "\(error)"]))
        }
    }
}
