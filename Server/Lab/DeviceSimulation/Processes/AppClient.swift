import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app as the phone sees it: the real engine, in this process or in one of its own.
protocol AppRole: AnyObject, Sendable {
    var session: Session? { get async }
    func start() async
    func stop() async
    func didRegister(token: String) async
    func didFailToRegister(reason: String) async
    func didUnlock() async
    func activitiesChanged() async

    @discardableResult
    func signIn(user: String, password: String) async throws(RichPushError) -> Session
    @discardableResult
    func signIn(token: String) async throws(RichPushError) -> Session
    func signOut() async throws(RichPushError) -> SignOutResult
    func requestPermission(provisional: Bool) async -> NotificationPermission
    func setTags(_ tags: [String]) async throws(RichPushError)

    func handleBackgroundPush(_ envelope: PushEnvelope, budget: Duration) async -> BackgroundResult
    func handleBackgroundRefresh(budget: Duration) async -> Bool
    func willPresent(_ notice: ForegroundNotification) async -> PresentationOptions
    func didRespond(_ response: NotificationResponse) async
    func didAnswerOffer(of id: RichID, more: Bool) async

    func inbox() async throws(RichPushError) -> Inbox
    @discardableResult
    func refresh() async throws(RichPushError) -> Inbox
    func show(_ id: RichID) async
    func downloaded(among entries: [InboxEntry]) async -> Set<RichID>
    func downloadedContent(of id: RichID) async -> CachedContent?

    @discardableResult
    func sendPush(_ request: SendRequest?) async throws(RichPushError) -> RichID?
    func upload(_ content: Data, mediaType: String, fileName: String?) async throws(RichPushError) -> ContentAnswer
}

extension RichPushEngine: AppRole {}

/// Messages from the phone to its app's process. The first line is its `ProcessSetup`.
enum ToApp: Codable, Sendable {
    case call(Int, AppCall)
    case answer(Int, Data)
}

/// Messages from an app's process to the phone.
enum FromApp: Codable, Sendable {
    case ready
    case event(DeviceEvent)
    case call(Int, SystemCall)
    case answer(Int, AppAnswer)
}

/// The functions of `AppRole` as values.
enum AppCall: Codable, Sendable {
    case session, start, didUnlock, activitiesChanged, signOut, inbox, refresh
    case didRegister(token: String)
    case didFailToRegister(reason: String)
    case signIn(user: String, password: String)
    case signInWithToken(String)
    case requestPermission(provisional: Bool)
    case setTags([String])
    case handleBackgroundPush(PushEnvelope, budget: Duration)
    case handleBackgroundRefresh(budget: Duration)
    case willPresent(ForegroundNotification)
    case didRespond(NotificationResponse)
    case didAnswerOffer(RichID, more: Bool)
    case show(RichID)
    case downloaded([InboxEntry])
    case downloadedContent(RichID)
    case sendPush(SendRequest?)
    /// The bytes lie in a file, which the app removes.
    case upload(URL, mediaType: String, fileName: String?)
}

/// What a function gave: JSON, or the error that it threw.
struct AppAnswer: Codable, Sendable {
    var value = Data()
    var error: RichPushError?
}

/// What an app asks of the system, as values. The answer is JSON.
enum SystemCall: Codable, Sendable {
    case present(LocalNotification)
    case removeDelivered([String])
    case removeAllDelivered, delivered, permission, registerForPush, appState, installationFacts, isSavingPower
    case scheduleRefresh(after: Duration)
    case setBadge(Int)
    case register([NotificationCategory])
    case requestPermission(provisional: Bool)
    case show(OpenedContent)
    case offer(ContentOffer)
    case activityReport, activityPictures
    case endActivities([Int64]?)
}

/// In place of a value that there is none of.
struct Nothing: Codable, Sendable {}

/// The services of the phone's system for an app in a process of its own.
protocol PhoneServices:
    ActivityHosting, NotificationPresenting, PushRegistering, AppEnvironment, BackgroundScheduling, ContentRouting
{
    /// The app answered a call that it had answered before.
    func noteSurplusAnswer() async
}

/// The app in a process of its own, as the phone calls it.
///
/// Every call ends: with the answer, when the process ends, or at a deadline that is beyond all deadlines of the engine; a process
/// that lets it pass is hung and is ended.
actor AppClient {
    private static let startLimit: Duration = .seconds(30)
    private static let callLimit: Duration = .seconds(120)
    /// How long it may take to end on request.
    private static let endLimit: Duration = .seconds(2)

    private let process: PhoneProcess
    private let system: any PhoneServices
    private let log: any EventLog
    private let folder: URL
    private let ready = FirstResult<Bool>()
    private var waiting: [Int: FirstResult<AppAnswer>] = [:]
    private var last = 0
    private var hasEnded = false
    private var isStopping = false

    /// Starts the process. Throws when that is not possible.
    init(
        _ configuration: SimulatedPhoneConfiguration, program: String, system: any PhoneServices, log: any EventLog
    ) throws(PhoneProcess.Failure) {
        process = try PhoneProcess(program: program, role: .app)
        self.system = system
        self.log = log
        folder = configuration.folder
        process.channel.send(ProcessSetup(configuration))
    }

    nonisolated var processID: Int32 { process.processID }

    /// Reads its messages until it ends; `onEnd` is called once. Returns whether it is ready.
    func run(onEnd: @escaping @Sendable (AppClient) async -> Void) async -> Bool {
        Task {
            for await line in process.channel.lines { await take(line) }
            let isExpected = await end()
            process.kill()
            _ = await process.exitStatus
            if !isExpected { await onEnd(self) }
        }
        return await ready.value(or: false, after: Self.startLimit, clock: SystemClock())
    }

    private func take(_ line: Data) async {
        switch try? JSONDecoder().decode(FromApp.self, from: line) {
        case .ready: await ready.resolve(true)
        case .event(let event): log.record(event)
        case .answer(let number, let answer):
            guard let open = waiting.removeValue(forKey: number) else { return await system.noteSurplusAnswer() }
            await open.resolve(answer)
        case .call(let number, let call):
            let (system, channel) = (system, process.channel)
            Task { channel.send(ToApp.answer(number, await system.answer(call))) }
        case nil: break
        }
    }

    /// Whether the phone wanted it.
    private func end() async -> Bool {
        hasEnded = true
        await ready.resolve(false)
        let open = waiting.values
        waiting = [:]
        for answer in open { await answer.resolve(AppAnswer(error: .busy)) }
        return isStopping
    }

    /// Ends the process: gently, and by force when that takes too long.
    func stop() async {
        isStopping = true
        process.channel.close()
        let timer = process.kill(after: Self.endLimit)
        _ = await process.exitStatus
        timer.cancel()
    }

    private func ask(_ call: AppCall) async -> AppAnswer {
        guard !hasEnded, !isStopping else { return AppAnswer(error: .busy) }
        last += 1
        let number = last
        let answer = FirstResult<AppAnswer>()
        waiting[number] = answer
        guard process.channel.send(ToApp.call(number, call)) else {
            waiting[number] = nil
            process.kill()
            return AppAnswer(error: .busy)
        }
        let timer = process.kill(after: Self.callLimit)
        defer { timer.cancel() }
        return await answer.value
    }

    private func value<Value: Decodable>(_ type: Value.Type, of call: AppCall) async throws(RichPushError) -> Value {
        let answer = await ask(call)
        if let error = answer.error { throw error }
        guard let value = try? JSONDecoder().decode(type, from: answer.value) else { throw .badAnswer }
        return value
    }

    private func value<Value: Decodable>(of call: AppCall, or other: Value) async -> Value {
        (try? await value(Value.self, of: call)) ?? other
    }
}

extension AppClient: AppRole {
    var session: Session? { get async { await value(of: .session, or: nil) } }

    func start() async { _ = await ask(.start) }

    func didRegister(token: String) async { _ = await ask(.didRegister(token: token)) }

    func didFailToRegister(reason: String) async { _ = await ask(.didFailToRegister(reason: reason)) }

    func didUnlock() async { _ = await ask(.didUnlock) }

    func activitiesChanged() async { _ = await ask(.activitiesChanged) }

    func signIn(user: String, password: String) async throws(RichPushError) -> Session {
        try await value(Session.self, of: .signIn(user: user, password: password))
    }

    func signIn(token: String) async throws(RichPushError) -> Session {
        try await value(Session.self, of: .signInWithToken(token))
    }

    func signOut() async throws(RichPushError) -> SignOutResult { try await value(SignOutResult.self, of: .signOut) }

    func requestPermission(provisional: Bool) async -> NotificationPermission {
        await value(of: .requestPermission(provisional: provisional), or: .denied)
    }

    func setTags(_ tags: [String]) async throws(RichPushError) { _ = try await value(Nothing.self, of: .setTags(tags)) }

    func handleBackgroundPush(_ envelope: PushEnvelope, budget: Duration) async -> BackgroundResult {
        await value(of: .handleBackgroundPush(envelope, budget: budget), or: .failed)
    }

    func handleBackgroundRefresh(budget: Duration) async -> Bool {
        await value(of: .handleBackgroundRefresh(budget: budget), or: false)
    }

    func willPresent(_ notice: ForegroundNotification) async -> PresentationOptions {
        await value(of: .willPresent(notice), or: [.banner, .list, .sound])
    }

    func didRespond(_ response: NotificationResponse) async { _ = await ask(.didRespond(response)) }

    func didAnswerOffer(of id: RichID, more: Bool) async { _ = await ask(.didAnswerOffer(id, more: more)) }

    func inbox() async throws(RichPushError) -> Inbox { try await value(Inbox.self, of: .inbox) }

    func refresh() async throws(RichPushError) -> Inbox { try await value(Inbox.self, of: .refresh) }

    func show(_ id: RichID) async { _ = await ask(.show(id)) }

    func downloaded(among entries: [InboxEntry]) async -> Set<RichID> { await value(of: .downloaded(entries), or: []) }

    func downloadedContent(of id: RichID) async -> CachedContent? { await value(of: .downloadedContent(id), or: nil) }

    func sendPush(_ request: SendRequest?) async throws(RichPushError) -> RichID? {
        try await value(RichID?.self, of: .sendPush(request))
    }

    func upload(_ content: Data, mediaType: String, fileName: String?) async throws(RichPushError) -> ContentAnswer {
        let file = folder.appendingPathComponent("upload-\(UUID().uuidString)")
        // The app removes it, unless it ends before.
        defer { try? FileManager.default.removeItem(at: file) }
        do throws(TransportError) { try NewFile.write(content, to: file) } catch { throw .storage(.failed) }
        return try await value(ContentAnswer.self, of: .upload(file, mediaType: mediaType, fileName: fileName))
    }
}

extension PhoneServices {
    /// Does what an app in a process of its own asks of the system.
    func answer(_ call: SystemCall) async -> Data {
        let encoder = JSONEncoder()
        let json = { (value: any Encodable) in (try? encoder.encode(value)) ?? Data() }
        switch call {
        case .present(let notice):
            do throws(PresentationError) { try await present(notice) } catch { return json(error) }
            return Data("null".utf8)
        case .removeDelivered(let identifiers): await removeDelivered(identifiers)
        case .removeAllDelivered: await removeAllDelivered()
        case .delivered: return json(await delivered())
        case .permission: return json(await permission())
        case .registerForPush: await registerForPush()
        case .appState: return json(await appState())
        case .installationFacts: return json(await installationFacts())
        case .isSavingPower: return json(await isSavingPower())
        case .scheduleRefresh(let pause): await scheduleRefresh(after: pause)
        case .setBadge(let count): await setBadge(count)
        case .register(let categories): await register(categories)
        case .requestPermission(let provisional): return json(await requestPermission(provisional: provisional))
        case .show(let content): await show(content)
        case .offer(let offer): await self.offer(offer)
        case .activityReport: return json(await report())
        case .activityPictures: return json(await pictures().map(\.number))
        case .endActivities(let activities): await end(activities)
        }
        return json(Nothing())
    }
}
