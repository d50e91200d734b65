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
        handing += 1
        defer { handing -= 1 }
        let payload = PushPayload(push.payload)
        let envelope = PushEnvelope(payload: push.payload)
        var detail = ["apns-id": push.apnsID, "push-type": push.pushType, "bytes": "\(push.payload.count)"]
        let remarks = RichKeyReview(payload: push.payload).remarks.map(\.sentence)
        if !remarks.isEmpty { detail["remark"] = remarks.joined(separator: " ") }
        story.tell(.delivered, envelope?.id, "The push reached the phone", detail, push: push.apnsID)
        guard push.topic == configuration.bundleID else {
            story.tell(.held, envelope?.id, "No app on this phone has this topic", ["topic": push.topic], push: push.apnsID)
            return
        }
        if payload.hasAlert { await showAlert(push, payload, envelope) }
        if payload.isContentAvailable { await wakeApp(for: push, envelope) }
        if !payload.hasAlert, !payload.isContentAvailable, let badge = payload.badge { await show(badge, push, envelope) }
        if let reason = payload.idleReason { story.tell(.held, envelope?.id, reason, push: push.apnsID) }
    }

    /// A push that is nothing but a number.
    private func show(_ badge: Int, _ push: IncomingPush, _ envelope: PushEnvelope?) async {
        let instructions = system.handle(.badge(badge), at: clock.now)
        guard instructions.contains(.setBadge(badge)) else {
            let reason: HoldReason = system.isInstalled ? .notificationsOff : .notInstalled
            return story.tell(.held, envelope?.id, reason.sentence, push: push.apnsID)
        }
        setBadge(badge)
        story.tell(.shown, envelope?.id, "The icon shows the number \(view.badge)", push: push.apnsID)
    }

    private func showAlert(_ push: IncomingPush, _ payload: PushPayload, _ envelope: PushEnvelope?) async {
        var content = payload.notice
        for instruction in system.handle(.alert(payload.traits), at: clock.now) {
            switch instruction {
            case .drop(let reason): story.tell(.held, envelope?.id, reason.sentence, push: push.apnsID)
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
    private func enrich(_ original: NoticeContent, _ push: IncomingPush, _ envelope: PushEnvelope?) async -> NoticeContent {
        story.tell(.woken, envelope?.id, "The system starts the service extension", push: push.apnsID)
        let request = EnrichmentRequest(identifier: push.identifier, envelope: envelope, original: original)
        let end = await extensionHost()?.run(request) ?? ExtensionEnd(reason: .notStarted, took: .zero)
        var detail = ["extension": end.reason.rawValue, "took-ms": "\(end.took.wholeMilliseconds)"]
        detail["grown-bytes"] = end.grownBytes.map(String.init)
        detail["grown-resident-bytes"] = end.grownResidentBytes.map(String.init)
        detail["process"] = end.processID.map(String.init)
        let kind: StoryStep.Kind = end.content == nil ? .failed : .woken
        story.tell(kind, envelope?.id, end.sentence, detail, push: push.apnsID)
        return end.content ?? original
    }

    /// A background push, or the part of an alert that wakes the app. Returns when the app is done with it.
    private func wakeApp(for push: IncomingPush, _ envelope: PushEnvelope?) async {
        let before = system.process.state
        for instruction in system.handle(.background(push), at: clock.now) {
            switch instruction {
            case .drop(let reason), .hold(let reason): story.tell(.held, envelope?.id, reason.sentence, push: push.apnsID)
            case .startApp, .resumeApp:
                story.tell(
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
    /// Whoever calls has counted it in `handing`, and says how often the app had been ended when the system woke it for the push: a
    /// process that was started for something else is not asked, and its tasks are not counted down.
    func handOver(_ push: IncomingPush, since ends: Int) async {
        defer { handing -= 1 }
        suspension?.cancel()
        publish()
        if let envelope = PushEnvelope(payload: push.payload) {
            if let app = await app(since: ends, envelope.id, push.apnsID) { await ask(app, about: envelope, push) }
        } else {
            story.tell(.held, nil, "The app passes over the push: it names no rich notification", push: push.apnsID)
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
            story.tell(kind, richID, error.sentence, push: push)
            return nil
        }
    }

    /// The app is done with what it was woken for, unless it is another by now.
    func endTask(since ends: Int) async {
        guard ends == self.ends else { return }
        try? await happen(.taskEnded)
    }

    private func ask(_ app: any AppRole, about envelope: PushEnvelope, _ push: IncomingPush) async {
        let (clock, time) = (clock, configuration.backgroundTime)
        let start = clock.uptime
        let first = FirstResult<BackgroundResult?>()
        let work = Task { await first.resolve(await app.handleBackgroundPush(envelope, budget: time)) }
        let watch = Task {
            guard (try? await clock.sleep(for: time + .seconds(1))) != nil else { return }
            await first.resolve(nil)
        }
        let answer = await first.value
        work.cancel()
        watch.cancel()
        let took = ["took-ms": "\((clock.uptime - start).wholeMilliseconds)"]
        guard let answer else {
            story.tell(.failed, envelope.id, "The system ended the app: it did not answer in time", took, push: push.apnsID)
            if engine === app { try? await happen(.endApp) }
            return
        }
        let detail = took.merging(["answer": answer.rawValue]) { first, _ in first }
        story.tell(.woken, envelope.id, "The app is done with the push", detail, push: push.apnsID)
        guard system.lock == .beforeFirstUnlock else { return }
        let sentence = "Nothing is fetched or shown: before the first unlock the app cannot read who is signed in"
        story.tell(.held, envelope.id, sentence, push: push.apnsID)
    }

    /// Whether no push is on its way through extension or app.
    var isQuiet: Bool { handing == 0 }
}

extension IncomingPush {
    /// What the notification centre knows it by.
    var identifier: String { collapseID ?? apnsID }
}
