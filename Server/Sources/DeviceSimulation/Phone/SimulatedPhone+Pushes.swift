import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the system does with a push: the delivery matrix (iOS client reference 2).
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
            for await push in pushes {
                if running == Self.pushesAtOnce {
                    await group.next()
                    running -= 1
                }
                group.addTask { await self.receive(push) }
                running += 1
            }
        }
    }

    /// A push reached the phone.
    func receive(_ push: IncomingPush) async {
        let payload = PushPayload(push.payload)
        let envelope = PushEnvelope(payload: push.payload)
        story.tell(
            .delivered, envelope?.id, "The push reached the phone",
            ["apns-id": push.apnsID, "push-type": push.pushType, "bytes": "\(push.payload.count)"], push: push.apnsID)
        guard push.topic == configuration.bundleID else {
            story.tell(.held, envelope?.id, "No app on this phone has this topic", ["topic": push.topic], push: push.apnsID)
            return
        }
        if payload.hasAlert { await showAlert(push, payload, envelope) }
        if payload.isContentAvailable { await deliverInBackground(push, envelope) }
        if !payload.hasAlert, !payload.isContentAvailable, let badge = payload.badge { setBadge(badge) }
    }

    private func showAlert(_ push: IncomingPush, _ payload: PushPayload, _ envelope: PushEnvelope?) async {
        guard memory.permission == .granted else {
            story.tell(.held, envelope?.id, "Notifications of this app are off", [:], push: push.apnsID)
            return
        }
        let identifier = push.collapseID ?? push.apnsID
        var content = payload.notice
        if payload.isMutable { content = await enrich(content, push, envelope) }
        await show(content, identifier: identifier, richID: envelope?.id, by: "the system", push: push.apnsID)
    }

    /// Runs the service extension: told to end shortly before its time, and not listened to after it.
    private func enrich(
        _ original: NoticeContent, _ push: IncomingPush, _ envelope: PushEnvelope?
    ) async -> NoticeContent {
        let identifier = push.collapseID ?? push.apnsID
        story.tell(.woken, envelope?.id, "The system starts the service extension", push: push.apnsID)
        guard let ports = try? ports(for: .serviceExtension) else { return original }
        let serviceExtension = EnrichmentEngine(configuration: configuration.app, device: ports)
        let request = EnrichmentRequest(identifier: identifier, envelope: envelope, original: original)
        let (clock, time) = (clock, configuration.backgroundTime)
        let result = FirstResult<NoticeContent>()
        let work = Task { await result.resolve(await serviceExtension.enrich(request, budget: time)) }
        let watch = Task {
            guard (try? await clock.sleep(for: time - .seconds(1))) != nil else { return }
            await serviceExtension.expire()
            guard (try? await clock.sleep(for: .seconds(1))) != nil else { return }
            await result.resolve(original)
        }
        let content = await result.value
        work.cancel()
        watch.cancel()
        return content
    }

    /// A background push, or the part of an alert that wakes the app.
    func deliverInBackground(_ push: IncomingPush, _ envelope: PushEnvelope?) async {
        guard process.state != .forceQuit else {
            story.tell(.held, envelope?.id, "Dropped: the user force-quit the app, so the system does not start it",
                push: push.apnsID)
            return
        }
        guard let mayWake = mayWake() else {
            await handle(push, envelope)
            return
        }
        guard mayWake.isAllowed else {
            // The system keeps the newest only (APNs reference 6.4).
            held = push
            story.tell(.held, envelope?.id, mayWake.reason, push: push.apnsID)
            return
        }
        story.tell(
            .woken, envelope?.id, "The system wakes the app in the background", ["process": process.state.rawValue],
            push: push.apnsID)
        await handle(push, envelope)
    }

    /// Whether the system may start or resume the app; `nil` when it runs anyway.
    private func mayWake() -> (isAllowed: Bool, reason: String)? {
        switch process.state {
        case .active, .inactive, .background: return nil
        case .suspended, .notRunning, .forceQuit:
            guard memory.backgroundRefresh else { return (false, "Held back: background refresh is off") }
            guard budget.spend(at: clock.now) else { return (false, "Held back: too many background pushes in an hour") }
            return (true, "")
        }
    }

    private func handle(_ push: IncomingPush, _ envelope: PushEnvelope?) async {
        guard let envelope else { return }
        process.wake()
        publish()
        if let engine = try? await runningApp() {
            let result = await engine.handleBackgroundPush(envelope, budget: configuration.backgroundTime)
            story.tell(.woken, envelope.id, "The app is done with the push", ["answer": result.rawValue])
        }
        process.finishTask()
        await readApp()
        publish()
        suspendLater()
    }

    /// The user opened the app, or allowed it to run again: what was held back comes now.
    func deliverHeld() {
        guard let push = held else { return }
        guard process.isInFront || memory.backgroundRefresh else { return }
        held = nil
        Task { await deliverInBackground(push, PushEnvelope(payload: push.payload)) }
    }
}
