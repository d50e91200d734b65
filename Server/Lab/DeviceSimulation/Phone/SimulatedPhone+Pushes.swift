import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the system does with a push: the delivery matrix (Reference/IOSClient.md#2).
extension SimulatedPhone {
    /// How many pushes are handled at once; more wait in the service's stream.
    private static let pushesAtOnce = 16
    private static let longestReconnectPause = 30

    /// Keeps a connection to the push service while the phone is online.
    func connect() {
        connection?.cancel()
        let (service, device, clock) = (service, configuration.identity.id, clock)
        connection = Task {
            var pause = 1
            while !Task.isCancelled {
                if let pushes = try? await service.connect(device: device) {
                    pause = 1
                    await receiveAll(pushes)
                }
                guard !Task.isCancelled, (try? await clock.sleep(for: .seconds(pause))) != nil else { return }
                pause = min(pause * 2, Self.longestReconnectPause)
            }
        }
    }

    private func receiveAll(_ pushes: AsyncStream<IncomingPush>) async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            var order = 0
            for await push in pushes {
                order += 1
                var push = push
                push.order = order
                if running == Self.pushesAtOnce {
                    await group.next()
                    running -= 1
                }
                group.addTask { [push] in await self.receive(push) }
                running += 1
            }
        }
    }

    /// A push reached the phone. Returns when it was shown, or it is known that it is not.
    func receive(_ push: IncomingPush) async {
        if push.pushType == "liveactivity", push.topic == configuration.bundleID { return await receiveActivity(push) }
        if push.pushType == "widgets", push.topic == configuration.bundleID { return reloadWidgets(push) }
        handing += 1
        defer { handing -= 1 }
        let payload = PushPayload(push.payload)
        let envelope = PushEnvelope(payload: push.payload)
        var detail = ["apns-id": push.apnsID, "push-type": push.pushType, "bytes": "\(push.payload.count)"]
        let remarks = RichKeyReview(payload: push.payload).remarks.map(\.sentence)
        if !remarks.isEmpty { detail["remark"] = remarks.joined(separator: " ") }
        story.record(.delivered, envelope?.id, "The push reached the phone", detail, push: push.apnsID)
        guard push.topic == configuration.bundleID else {
            story.record(.held, envelope?.id, "No app on this phone has this topic", ["topic": push.topic], push: push.apnsID)
            return
        }
        if payload.hasAlert { await showAlert(push, payload, envelope) }
        if payload.isContentAvailable { await wakeApp(for: push, envelope) }
        if !payload.hasAlert, !payload.isContentAvailable, let badge = payload.badge { await show(badge, push, envelope) }
        if let reason = payload.idleReason { story.record(.held, envelope?.id, reason, push: push.apnsID) }
    }

    /// A push that is nothing but a number.
    private func show(_ badge: Int, _ push: IncomingPush, _ envelope: PushEnvelope?) async {
        let instructions = system.handle(.badge(badge), at: clock.now)
        guard instructions.contains(.setBadge(badge)) else {
            let reason: HoldReason = system.isInstalled ? .notificationsOff : .notInstalled
            return story.record(.held, envelope?.id, reason.sentence, push: push.apnsID)
        }
        setBadge(badge)
        story.record(.shown, envelope?.id, "The icon shows the number \(view.badge)", push: push.apnsID)
    }

    private func showAlert(_ push: IncomingPush, _ payload: PushPayload, _ envelope: PushEnvelope?) async {
        var content = payload.notice
        for instruction in system.handle(.alert(payload.traits), at: clock.now) {
            switch instruction {
            case .drop(let reason): story.record(.held, envelope?.id, reason.sentence, push: push.apnsID)
            case .setBadge(let badge): setBadge(badge)
            case .runExtension: content = await enrich(content, push, envelope)
            case .showNotice:
                await show(
                    content, identifier: push.identifier, richID: envelope?.id, kind: envelope?.kind, subject: envelope?.subject,
                    by: "the system", traits: payload.traits, push: push.apnsID)
            default: break
            }
        }
    }

    /// Runs the service extension. Whatever becomes of it, there is something to show.
    private func enrich(_ original: NotificationContent, _ push: IncomingPush, _ envelope: PushEnvelope?) async
        -> NotificationContent
    {
        story.record(.woken, envelope?.id, "The system starts the service extension", push: push.apnsID)
        let request = EnrichmentRequest(identifier: push.identifier, envelope: envelope, original: original)
        let end = await extensionHost()?.run(request) ?? ExtensionEnd(reason: .notStarted, took: .zero)
        var detail = ["extension": end.reason.rawValue, "took-ms": "\(end.took.wholeMilliseconds)"]
        detail["grown-bytes"] = end.grownBytes.map(String.init)
        detail["grown-resident-bytes"] = end.grownResidentBytes.map(String.init)
        detail["process"] = end.processID.map(String.init)
        let kind: StoryStep.Kind = end.content == nil ? .failed : .woken
        story.record(kind, envelope?.id, end.sentence, detail, push: push.apnsID)
        return end.content ?? original
    }

    /// A background push, or the part of an alert that wakes the app. Returns when the app is done with it.
    private func wakeApp(for push: IncomingPush, _ envelope: PushEnvelope?) async {
        let before = system.process.state
        for instruction in system.handle(.background(push), at: clock.now) {
            switch instruction {
            case .drop(let reason), .hold(let reason): story.record(.held, envelope?.id, reason.sentence, push: push.apnsID)
            case .startApp, .resumeApp:
                story.record(
                    .woken, envelope?.id, "The system wakes the app in the background", ["process": before.rawValue],
                    push: push.apnsID)
            case .handOver(let push):
                handing += 1
                await handOver(push, since: ends)
            default: break
            }
        }
        publish()
    }

    /// Gives a push to the app's background handler, which has to answer in time; an app that does not is ended.
    /// The caller has counted the push in `handing`. `ends` is how often the app had been ended when the system woke it for the push:
    /// a process that was started later is not asked, and its tasks are not counted down.
    func handOver(_ push: IncomingPush, since ends: Int) async {
        defer { handing -= 1 }
        suspension?.cancel()
        publish()
        if let envelope = PushEnvelope(payload: push.payload) {
            if let app = await app(since: ends, envelope.id, push.apnsID) { await ask(app, about: envelope, push) }
        } else {
            story.record(.held, nil, "The app passes over the push: it names no rich notification", push: push.apnsID)
        }
        await readApp()
        await endTask(since: ends)
    }

    /// The app that the system woke; `nil`, and the story says why, when it has been ended or cannot be started.
    func app(since ends: Int, _ richID: RichID?, _ push: String?) async -> (any AppRole)? {
        do throws(PhoneActionError) {
            guard ends == self.ends else { throw Self.endedSince }
            return try await runningApp()
        } catch {
            let kind: StoryStep.Kind = error == Self.endedSince ? .held : .failed
            story.record(kind, richID, error.sentence, push: push)
            return nil
        }
    }

    /// The app is done with what it was woken for, unless it is another by now.
    func endTask(since ends: Int) async {
        guard ends == self.ends else { return }
        try? await happen(.taskEnded)
    }

    /// What the app answers within the time that the system gives it; `nil` for one that does not answer.
    func inTime<Answer: Sendable>(_ answer: @escaping @Sendable (_ budget: Duration) async -> Answer) async -> Answer? {
        let time = configuration.backgroundTime
        let first = FirstResult<Answer?>()
        let work = Task { await first.resolve(await answer(time)) }
        defer { work.cancel() }
        return await first.value(or: nil, after: time + .seconds(1), clock: clock)
    }

    private func ask(_ app: any AppRole, about envelope: PushEnvelope, _ push: IncomingPush) async {
        let start = clock.uptime
        let answer = await inTime { await app.handleBackgroundPush(envelope, budget: $0) }
        let took = ["took-ms": "\((clock.uptime - start).wholeMilliseconds)"]
        guard let answer else {
            story.record(.failed, envelope.id, "The system ended the app: it did not answer in time", took, push: push.apnsID)
            if engine === app { try? await happen(.endApp) }
            return
        }
        let detail = took.merging(["answer": answer.rawValue]) { first, _ in first }
        story.record(.woken, envelope.id, "The app is done with the push", detail, push: push.apnsID)
        guard system.lock == .beforeFirstUnlock else { return }
        let sentence = "Nothing is fetched or shown: before the first unlock the app cannot read who is signed in"
        story.record(.held, envelope.id, sentence, push: push.apnsID)
    }

    /// Whether no push is on its way through extension or app.
    var isQuiet: Bool { handing == 0 }

    // MARK: The system's notification centre

    /// Shows a notification where the system says, or asks the app how while the user looks at it.
    func show(
        _ content: NotificationContent, identifier: String, richID: RichID?, kind: ContentKind?, subject: SubjectMark? = nil,
        by presenter: String, traits: SystemEvent.AlertTraits = .init(), push: String? = nil
    ) async {
        guard let place = place(of: traits, richID, push) else { return discard(content) }
        if let badge = content.badge { setBadge(badge) }
        let asked = ForegroundNotification(identifier: identifier, richID: richID, subject: subject, content: content)
        let options = await options(asked, at: place)
        guard !options.isDisjoint(with: [.list, .banner]) else { return discard(content) }
        let entry = NoticeList.Entry(content, id: identifier, richID: richID, kind: kind, at: clock.now, on: shelf)
        for gone in list.add(entry) { shelf.remove(gone.file) }
        if options.contains(.banner) { hangBanner(entry.notice) }
        let attachment = entry.file == nil ? "no" : entry.notice.mediaType ?? "yes"
        story.record(
            .shown, richID, "The phone shows the notification",
            ["by": presenter, "attachment": attachment, "place": place.rawValue], push: push)
        publish()
        noteSeen()
        if place == .asAppSays { await updateInbox() }
    }

    /// Updates the app's inbox behind its alert: first from what the extension stored, then from the server. Of concurrent calls one
    /// request runs and one more follows, which sees everything that came before it.
    private func updateInbox() async {
        await readApp()
        needsInbox = true
        guard !isUpdatingInbox else { return }
        isUpdatingInbox = true
        handing += 1
        Task {
            defer {
                isUpdatingInbox = false
                handing -= 1
            }
            while needsInbox, let engine {
                needsInbox = false
                _ = try? await engine.refresh()
                await readApp()
            }
        }
    }

    private func place(of traits: SystemEvent.AlertTraits, _ richID: RichID?, _ push: String?) -> NoticePlace? {
        for instruction in system.handle(.notice(traits), at: clock.now) {
            if case .place(let place) = instruction { return place }
            if case .drop(let reason) = instruction { story.record(.held, richID, reason.sentence, push: push) }
        }
        return nil
    }

    /// How it is shown; the app in front may want it otherwise.
    private func options(_ notice: ForegroundNotification, at place: NoticePlace) async -> PresentationOptions {
        switch place {
        case .banner: return [.banner, .list, .sound]
        case .lockScreen: return [.list, .sound]
        case .quietly: return [.list]
        case .asAppSays:
            return await engine?.willPresent(notice) ?? [.banner, .list, .sound]
        }
    }

    /// The system has taken nothing of it.
    private func discard(_ content: NotificationContent) {
        if let file = content.attachment?.file { try? FileManager.default.removeItem(at: file) }
    }

    /// The icon shows a number only if notifications are allowed.
    func setBadge(_ count: Int) {
        view.badge = system.settings.permission == .granted ? max(0, count) : 0
        memory.badge = view.badge
        publish()
    }

    /// What the app shows itself.
    func present(_ notice: LocalNotification) async throws(PresentationError) {
        guard system.settings.permission == .granted else { throw .notPermitted }
        await show(notice.content, identifier: notice.identifier, richID: notice.richID, kind: notice.kind, by: "the app")
    }
}

extension IncomingPush {
    /// What the notification centre knows it by.
    var identifier: String { collapseID ?? apnsID }
}
