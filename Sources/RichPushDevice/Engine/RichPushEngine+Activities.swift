import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps the server informed about the app's Live Activities and their tokens.
///
/// A report is a full list, so a lost one is repaired by the next. One is sent when it differs from what the server last took, and every
/// heartbeat (Reference/LiveActivities.md#1-2).
extension RichPushEngine {
    /// An activity began, changed or ended, or the system gave a token. To be called for each event, also in the background, and at every
    /// launch and return to the foreground: the system may skip an event. Returns when the server has the report, or the deadline of a
    /// call has passed.
    public func activitiesChanged() async {
        guard activeSession != nil else { return await endActivitiesWithoutUser() }
        await reportActivities(within: Deadline(device.clock, after: configuration.limits.callDeadline))
    }

    /// Reports what changed, and waits for it at most as long as the deadline says.
    func reportActivities(within deadline: Deadline) async {
        startActivityReport()
        guard let task = reporting else { return }
        _ = await deadline.run { await task.value }
    }

    /// Reports if something changed. A call during a report makes it look once more.
    func startActivityReport() {
        guard app.activities != nil, activeSession != nil else { return }
        needsActivityReport = true
        guard reporting == nil else { return }
        reporting = Task { await reportUntilTaken() }
    }

    private func reportUntilTaken() async {
        var retry = RetrySchedule()
        while needsActivityReport, !Task.isCancelled, let host = app.activities {
            needsActivityReport = false
            let report = await currentReport(of: host)
            guard let session = activeSession else { continue }
            do throws(RichPushError) {
                if isDue(report, in: session) { try await send(report, to: host, in: session) }
                await bringPictures(for: host, in: session)
            } catch {
                device.log.record(DeviceEvent(.registrationFailed, nil, ["reason": error.code, "of": "activities"]))
                guard error.isTransient, let pause = retry.next(fraction: device.identifiers.fraction(), asked: error.pause),
                    (try? await device.clock.sleep(for: pause)) != nil
                else { break }
                needsActivityReport = true
            }
        }
        if !Task.isCancelled { reporting = nil }
    }

    /// Start tokens come with the version of the system: the server doubts those of an earlier one (Reference/LiveActivities.md#2-1).
    private func currentReport(of host: any ActivityHosting) async -> ActivityReport {
        var report = await host.report()
        if !report.startTokens.isEmpty { report.systemVersion = await app.environment.installationFacts().systemVersion }
        return report
    }

    private func send(_ report: ActivityReport, to host: any ActivityHosting, in session: Session) async throws(RichPushError) {
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let answer = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
            try await self.client.value(
                ActivityReportAnswer.self, of: try .json("PUT", APIRoute.activityReport(session.installation), report),
                as: authorization, within: deadline)
        }
        guard isCurrent(session) else { return }
        let state = RegistrationState(digest: RegistrationState.digest(of: report), acknowledgedAt: device.clock.now)
        try storing { () throws(StorageError) in try records.write(state, activitiesKey(of: session)) }
        guard !answer.ended.isEmpty else { return }
        await host.end(answer.ended)
        needsActivityReport = true
    }

    /// Fetches the pictures that activities name and are not on the device yet. The small form is enough for a card.
    private func bringPictures(for host: any ActivityHosting, in session: Session) async {
        let wanted = await host.pictures().subtracting(missingPictures)
        guard isCurrent(session), let present = try? device.cache.keepShared(wanted) else { return }
        for id in wanted.subtracting(present).sorted() {
            do throws(RichPushError) {
                try await bringPicture(of: id, in: session)
            } catch {
                if error == .notFound { missingPictures.insert(id) }
                device.log.record(DeviceEvent(.fetchFailed, id, ["reason": error.code, "of": "activities"]))
            }
        }
    }

    private func bringPicture(of id: RichID, in session: Session) async throws(RichPushError) {
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let entry = try await details(of: id, in: session, within: deadline)
        let stored = try storing { () throws(StorageError) in try records.stored(id, of: session.id) }
        // What came sealed does not leave the app's own files; `entry` is what was in it.
        guard let stored, stored.kind != .sealed, let descriptor = entry.thumb ?? entry.content,
            descriptor.mediaType.hasPrefix("image/")
        else {
            missingPictures.insert(id)
            throw .badAnswer
        }
        guard descriptor.byteCount <= (await backgroundLimit()) else { throw .badAnswer }
        let variant: ContentFetcher.Variant = entry.thumb == nil ? .original : .thumb
        let content = try await fetch(descriptor, of: id, variant: variant, in: session, within: deadline).get()
        guard isCurrent(session) else { return }
        try storing { () throws(StorageError) in try device.cache.share(content, as: id, of: session.id) }
    }

    private func isDue(_ report: ActivityReport, in session: Session) -> Bool {
        guard let state = try? records.read(RegistrationState.self, activitiesKey(of: session)) else {
            // An app without any has nothing to say.
            return report != ActivityReport()
        }
        return state.isDue(
            RegistrationState.digest(of: report), now: device.clock.now, heartbeat: configuration.limits.heartbeat)
    }

    private func activitiesKey(of session: Session) -> RecordKey { RecordKey(.state, "activities", of: session.id) }

    /// Ends all activities on the device: they are of a user who has signed out (Reference/LiveActivities.md#3-2). The system shows one that
    /// has ended for up to four hours more, so these go as well.
    func endActivities() async {
        missingPictures = []
        await app.activities?.end(nil)
    }

    /// A start by push may arrive after its user has signed out.
    private func endActivitiesWithoutUser() async {
        guard isLoaded, session == nil, !isStopped, !isChangingSession, !isSignInPending else { return }
        await endActivities()
    }
}
