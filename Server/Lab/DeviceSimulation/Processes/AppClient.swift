import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app in a process of its own, as the phone calls it.
///
/// Every call ends: with the answer, when the process ends, or at a deadline that is beyond all deadlines of the engine; a process
/// that lets it pass is hung and is ended.
actor AppClient {
    private static let startLimit: Duration = .seconds(30)
    private static let callLimit: Duration = .seconds(120)
    /// How long it may take to end when it is told to.
    private static let endLimit: Duration = .seconds(2)

    private let process: PhoneProcess
    private let system: PhoneLink
    private let log: any EventLog
    private let clock = SystemClock()
    private let folder: URL
    private let ready = FirstResult<Bool>()
    private var waiting: [Int: FirstResult<AppAnswer>] = [:]
    private var last = 0
    private var hasEnded = false
    private var isStopping = false

    /// Starts the process. Throws when that is not possible.
    init(
        _ configuration: SimulatedPhoneConfiguration, program: String, system: PhoneLink, log: any EventLog
    ) throws(PhoneProcess.Failure) {
        process = try PhoneProcess(program: program, role: .app)
        self.system = system
        self.log = log
        folder = configuration.folder
        process.channel.send(ProcessSetup(configuration))
    }

    nonisolated var processID: Int32 { process.processID }

    /// Reads what it says until it ends, which is told once. Returns whether it is ready.
    func run(onEnd: @escaping @Sendable (AppClient) async -> Void) async -> Bool {
        Task {
            for await line in process.channel.lines { await take(line) }
            let isExpected = await end()
            process.kill()
            _ = await process.exitStatus
            if !isExpected { await onEnd(self) }
        }
        let (clock, ready) = (clock, ready)
        let timer = Task {
            guard (try? await clock.sleep(for: Self.startLimit)) != nil else { return }
            await ready.resolve(false)
        }
        defer { timer.cancel() }
        return await ready.value
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
        let (clock, process) = (clock, process)
        let timer = Task {
            guard (try? await clock.sleep(for: Self.endLimit)) != nil else { return }
            process.kill()
        }
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
        let (clock, process) = (clock, process)
        let timer = Task {
            guard (try? await clock.sleep(for: Self.callLimit)) != nil else { return }
            process.kill()
        }
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

    func signIn(user: String, password: String) async throws(RichPushError) -> Session {
        try await value(Session.self, of: .signIn(user: user, password: password))
    }

    func signOut() async throws(RichPushError) -> SignOutResult { try await value(SignOutResult.self, of: .signOut) }

    func requestPermission(provisional: Bool) async -> NoticePermission {
        await value(of: .requestPermission(provisional: provisional), or: .denied)
    }

    func setTags(_ tags: [String]) async throws(RichPushError) { _ = try await value(Nothing.self, of: .setTags(tags)) }

    func handleBackgroundPush(_ envelope: PushEnvelope, budget: Duration) async -> BackgroundResult {
        await value(of: .handleBackgroundPush(envelope, budget: budget), or: .failed)
    }

    func handleBackgroundRefresh(budget: Duration) async -> Bool {
        await value(of: .handleBackgroundRefresh(budget: budget), or: false)
    }

    func willPresent(_ notice: ForegroundNotice) async -> PresentationOptions {
        await value(of: .willPresent(notice), or: [.banner, .list, .sound])
    }

    func didRespond(_ response: NoticeResponse) async { _ = await ask(.didRespond(response)) }

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

extension PhoneLink {
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
        }
        return json(Nothing())
    }
}
