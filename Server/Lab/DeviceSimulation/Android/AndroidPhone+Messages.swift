import FCMEmulation
import RichPushDevice
import RichPushModel

/// What the system hands to the app.
extension AndroidPhone {
    func receive(_ event: AndroidEvent) async {
        switch event {
        case .message(let message): await receive(message)
        case .shown(let message): show(message)
        case .opened(let message):
            story.record(.opened, nil, "The user opened what the system showed", push: message.id)
        case .newToken(let token):
            memory.token = token
            await inProcess(because: "it has a new token") { await $0.didRegister(token: token) }
        case .deletedMessages: await fetchInbox()
        }
        await readApp()
    }

    /// `onMessageReceived`.
    private func receive(_ message: AndroidMessage) async {
        let envelope = PushEnvelope(data: message.data)
        let detail = [
            "message-id": message.id, "priority": message.hasHighPriority ? "high" : "normal",
            "data": message.data.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "\n"),
        ]
        story.record(.delivered, envelope?.id, "The message reached the phone", detail, push: message.id)
        guard let envelope else { return await receivePlain(message) }
        let (time, start) = (configuration.backgroundTime, clock.uptime)
        let answer = await inProcess(because: "a message came", envelope.id) {
            await $0.handleBackgroundPush(envelope, budget: time)
        }
        let took = ["took-ms": "\((clock.uptime - start).wholeMilliseconds)"]
        guard let answer else {
            return story.record(.held, envelope.id, "The app ended before it was done", took, push: message.id)
        }
        let answered = took.merging(["answer": answer.rawValue]) { first, _ in first }
        story.record(.woken, envelope.id, "The app is done with the message", answered, push: message.id)
    }

    /// A message without a rich notification: the app shows its text to a user who is signed in.
    private func receivePlain(_ message: AndroidMessage) async {
        guard let words = PushWords(data: message.data) else {
            return story.record(.held, nil, "The app passes over the message: it has nothing to show", push: message.id)
        }
        let session = await inProcess(because: "a message came", nil) { await $0.session }
        guard session.flatMap(\.self) != nil else {
            return story.record(.held, nil, "No user is signed in, so the app shows nothing", push: message.id)
        }
        let content = NotificationContent(
            title: words.title ?? "", subtitle: words.subtitle ?? "", body: words.body ?? "", thread: words.thread,
            badge: words.badge, sound: words.sound)
        try? post(content, id: message.id, richID: nil, kind: nil, by: "the app")
    }

    /// A message with a notification, which the system shows itself while the app is in the background.
    private func show(_ message: AndroidMessage) {
        let stated = { (name: String) in if case .text(let text)? = message.notification?.members?[name] { text } else { "" } }
        // The channel of the app decides what is heard.
        let content = NotificationContent(title: stated("title"), body: stated("body"), sound: "default")
        try? post(content, id: message.id, richID: PushEnvelope(data: message.data)?.id, kind: nil, by: "the system")
    }

    /// `onDeletedMessages`: more came than FCM keeps, and it dropped them all.
    private func fetchInbox() async {
        story.record(.held, nil, "FCM dropped messages: more came than it keeps for a phone that is away")
        let time = configuration.backgroundTime
        let isRefreshed = await inProcess(because: "messages were dropped") { await $0.handleBackgroundRefresh(budget: time) }
        guard isRefreshed == true else { return story.record(.failed, nil, "The app could not ask for its inbox") }
        story.record(.woken, nil, "The app asked for its inbox")
    }

    /// Lets the app do something, in a process that the system starts if there is none. `nil` when the process ends before.
    @discardableResult
    private func inProcess<Answer: Sendable>(
        because reason: String, _ richID: RichID? = nil, work: @escaping @Sendable (any AppRole) async -> Answer
    ) async -> Answer? {
        if app == nil { story.record(.woken, richID, "The system starts the app: \(reason)") }
        guard let app = try? await runningApp() else { return nil }
        let first = FirstResult<Answer?>()
        abandon = { await first.resolve(nil) }
        let task = Task { await first.resolve(await work(app)) }
        defer { task.cancel() }
        return await first.value
    }

    // MARK: The notification shade

    /// Shows a notification, over the app too: with a banner unless the phone is locked. The story has the sound that it plays.
    func post(
        _ content: NotificationContent, id: String, richID: RichID?, kind: ContentKind?, by presenter: String
    ) throws(PresentationError) {
        guard memory.settings.permission == .granted else {
            story.record(.held, richID, HoldReason.notificationsOff.sentence)
            throw .notPermitted
        }
        let entry = NoticeList.Entry(content, id: id, richID: richID, kind: kind, at: clock.now, on: shelf)
        for gone in list.add(entry) { shelf.remove(gone.file) }
        if let badge = content.badge { setBadge(badge) }
        if !view.locked { hangBanner(entry.notice) }
        let attachment = entry.file == nil ? "no" : entry.notice.mediaType ?? "yes"
        let detail = ["by": presenter, "attachment": attachment, "sound": content.sound ?? "none"]
        story.record(.shown, richID, "The phone shows the notification", detail)
        // Without one, FCM takes high priority away over time (Reference/FCM.md#6-1).
        try? device.act(.showNotification)
        publish()
    }
}
