import AsyncHTTPClient
import Crypto
import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What runs in a process of a simulated phone. It ends when the phone closes the socket that is its input and output.
public enum PhoneProcessProgram {
    /// Runs the service extension.
    ///
    /// - Parameter mistake: what it does wrong on purpose.
    public static func runExtension(mistake: ExtensionMistake? = nil) async throws {
        let channel = takeSocket()
        var lines = channel.lines.makeAsyncIterator()
        guard let setup = try await setup(&lines) else { return }
        let log = ChannelLog { channel.send(FromExtension.event($0)) }
        let ports = try setup.ports(isForApp: false, client: AsyncHTTPTransport.makeClient(), log: log)
        let engine = EnrichmentEngine(configuration: try setup.configuration(), device: ports)
        loadPlatform()
        channel.send(FromExtension.ready)
        while let line = await lines.next() {
            switch try JSONDecoder().decode(ToExtension.self, from: line) {
            case .enrich(let request, let budget):
                if let mistake, make(mistake) { continue }
                Task {
                    let content = await engine.enrich(request, budget: budget)
                    // In one write: the phone closes the channel at the first, and the process ends then.
                    channel.send(FromExtension.content(content), count: mistake == nil ? 1 : 2)
                }
            case .expire: if mistake == nil { await engine.expire() }
            }
        }
    }

    /// Runs the app.
    public static func runApp() async throws {
        let channel = takeSocket()
        var lines = channel.lines.makeAsyncIterator()
        guard let setup = try await setup(&lines) else { return }
        let system = SystemCaller(channel)
        let log = ChannelLog { channel.send(FromApp.event($0)) }
        let ports = try setup.ports(isForApp: true, client: AsyncHTTPTransport.makeClient(), log: log)
        let app = AppPorts(
            notifications: system, push: system, environment: system, router: system, scheduling: system,
            activities: setup.hasActivities ? system : nil)
        let engine = RichPushEngine(configuration: try setup.configuration(), device: ports, app: app)
        channel.send(FromApp.ready)
        while let line = await lines.next() {
            switch try JSONDecoder().decode(ToApp.self, from: line) {
            case .call(let number, let call):
                Task { channel.send(FromApp.answer(number, await AppCallee.answer(call, by: engine))) }
            case .answer(let number, let answer): await system.resolve(number, answer)
            }
        }
    }

    /// Loads the hashing code. On a phone it belongs to the system and is in memory before an extension starts; here it would be read
    /// from the program's file at its first use. Networking is not preloaded: without a push there is no request.
    private static func loadPlatform() { _ = SHA256.hash(data: [UInt8](repeating: 0, count: 64)) }

    /// The socket is input and output; whatever else prints goes to the error output.
    private static func takeSocket() -> LineChannel {
        let socket = dup(0)
        dup2(2, 1)
        return LineChannel(socket)
    }

    private static func setup(_ lines: inout AsyncStream<Data>.Iterator) async throws -> ProcessSetup? {
        guard let line = await lines.next() else { return nil }
        return try JSONDecoder().decode(ProcessSetup.self, from: line)
    }

    /// Makes a mistake in place of the work; returns `false` for a mistake that follows the work.
    private static func make(_ mistake: ExtensionMistake) -> Bool {
        switch mistake {
        case .answerTwice: return false
        case .hang: break
        case .crash: _exit(70)
        case .grow:
            BlockingThread.start {
                // More than any limit, but bounded in case the phone does not end it.
                var taken: [[UInt8]] = []
                for piece in 0..<512 {
                    taken.append([UInt8](repeating: UInt8(piece & 0xFF), count: 1 << 20))
                    usleep(1_000)
                }
                _exit(71)
            }
        }
        return true
    }
}

/// Sends what an engine does to the phone.
private struct ChannelLog: EventLog {
    let send: @Sendable (DeviceEvent) -> Void

    func record(_ event: DeviceEvent) { send(event) }
}

/// Does what the phone asks of the app, in the app's process.
private enum AppCallee {
    static func answer(_ call: AppCall, by engine: RichPushEngine) async -> AppAnswer {
        do throws(RichPushError) {
            return AppAnswer(value: try await value(of: call, by: engine))
        } catch {
            return AppAnswer(error: error)
        }
    }

    private static func value(of call: AppCall, by engine: RichPushEngine) async throws(RichPushError) -> Data {
        switch call {
        case .session: return json(await engine.session)
        case .start: await engine.start()
        case .didUnlock: await engine.didUnlock()
        case .activitiesChanged: await engine.activitiesChanged()
        case .signOut: return json(try await engine.signOut())
        case .inbox: return json(try await engine.inbox())
        case .refresh: return json(try await engine.refresh())
        case .didRegister(let token): await engine.didRegister(token: token)
        case .didFailToRegister(let reason): await engine.didFailToRegister(reason: reason)
        case .signIn(let user, let password): return json(try await engine.signIn(user: user, password: password))
        case .signInWithToken(let token): return json(try await engine.signIn(token: token))
        case .requestPermission(let provisional): return json(await engine.requestPermission(provisional: provisional))
        case .setTags(let tags): try await engine.setTags(tags)
        default: return try await contentValue(of: call, by: engine)
        }
        return json(Nothing())
    }

    private static func contentValue(of call: AppCall, by engine: RichPushEngine) async throws(RichPushError) -> Data {
        switch call {
        case .handleBackgroundPush(let envelope, let budget):
            return json(await engine.handleBackgroundPush(envelope, budget: budget))
        case .handleBackgroundRefresh(let budget): return json(await engine.handleBackgroundRefresh(budget: budget))
        case .willPresent(let notice): return json(await engine.willPresent(notice))
        case .didRespond(let response): await engine.didRespond(response)
        case .didAnswerOffer(let id, let more): await engine.didAnswerOffer(of: id, more: more)
        case .show(let id): await engine.show(id)
        case .downloaded(let entries): return json(await engine.downloaded(among: entries))
        case .downloadedContent(let id): return json(await engine.downloadedContent(of: id))
        case .sendPush(let request): return json(try await engine.sendPush(request))
        case .upload(let file, let mediaType, let fileName):
            defer { try? FileManager.default.removeItem(at: file) }
            guard let content = try? Data(contentsOf: file) else { throw .storage(.failed) }
            return json(try await engine.upload(content, mediaType: mediaType, fileName: fileName))
        default: break
        }
        return json(Nothing())
    }

    private static func json(_ value: some Encodable) -> Data { (try? JSONEncoder().encode(value)) ?? Data() }
}

/// The system's services as an app in a process of its own sees them: each call goes to the phone and waits for its answer.
private actor SystemCaller {
    private let channel: LineChannel
    private var waiting: [Int: FirstResult<Data>] = [:]
    private var last = 0

    init(_ channel: LineChannel) { self.channel = channel }

    func resolve(_ number: Int, _ answer: Data) async { await waiting.removeValue(forKey: number)?.resolve(answer) }

    /// This process ends with its phone, so an answer comes or is not needed.
    @discardableResult
    private func ask(_ call: SystemCall) async -> Data {
        last += 1
        let number = last
        let answer = FirstResult<Data>()
        waiting[number] = answer
        guard channel.send(FromApp.call(number, call)) else {
            waiting[number] = nil
            return Data()
        }
        return await answer.value
    }

    private func ask<Value: Decodable>(_ call: SystemCall, or other: Value) async -> Value {
        (try? JSONDecoder().decode(Value.self, from: await ask(call))) ?? other
    }
}

extension SystemCaller: NotificationPresenting {
    func present(_ notice: LocalNotification) async throws(PresentationError) {
        let error: PresentationError? = await ask(.present(notice), or: .failed)
        if let error { throw error }
    }

    func removeDelivered(_ identifiers: [String]) async { await ask(.removeDelivered(identifiers)) }

    func removeAllDelivered() async { await ask(.removeAllDelivered) }

    func delivered() async -> [DeliveredNotification] { await ask(.delivered, or: []) }

    func setBadge(_ count: Int) async { await ask(.setBadge(count)) }

    func register(_ categories: [NotificationCategory]) async { await ask(.register(categories)) }

    func permission() async -> NotificationPermission { await ask(.permission, or: .denied) }

    func requestPermission(provisional: Bool) async -> NotificationPermission {
        await ask(.requestPermission(provisional: provisional), or: .denied)
    }
}

extension SystemCaller: PushRegistering {
    func registerForPush() async { await ask(.registerForPush) }
}

extension SystemCaller: AppEnvironment {
    func appState() async -> AppState { await ask(.appState, or: .background) }

    func isSavingPower() async -> Bool { await ask(.isSavingPower, or: false) }

    func installationFacts() async -> InstallationFacts { await ask(.installationFacts, or: InstallationFacts(bundleID: "")) }
}

extension SystemCaller: BackgroundScheduling {
    func scheduleRefresh(after pause: Duration) async { await ask(.scheduleRefresh(after: pause)) }
}

extension SystemCaller: ContentRouting {
    func show(_ content: OpenedContent) async { await ask(.show(content)) }

    func offer(_ offer: ContentOffer) async { await ask(.offer(offer)) }
}

extension SystemCaller: ActivityHosting {
    func report() async -> ActivityReport { await ask(.activityReport, or: ActivityReport()) }

    func pictures() async -> Set<RichID> { Set(await ask(.activityPictures, or: [Int32]()).compactMap { RichID(number: $0) }) }

    func end(_ activities: [Int64]?) async { await ask(.endActivities(activities)) }
}

/// The first line that a process of a phone reads: all that app and extension are built with, and the folder that they share.
struct ProcessSetup: Codable, Sendable {
    var backend: URL
    var folder: URL
    var keepsPassword: Bool
    var opensSealedContent: Bool
    var showsTextWhenFetchFails: Bool
    var offersInForeground: Bool
    var offersReply: Bool
    var neutralText: String
    var moreTitle: String
    var replyTitle: String
    var replyFailedText: String
    var refreshTask: String?
    var limits: DeviceLimits
    var contentLimits: FileContentCache.Limits
    var slowAnswerDelay: Duration
    var hasActivities: Bool

    init(_ configuration: SimulatedPhoneConfiguration) {
        backend = configuration.app.backend
        folder = configuration.folder
        keepsPassword = configuration.app.keepsPasswordForSending
        opensSealedContent = configuration.app.opensSealedContent
        showsTextWhenFetchFails = configuration.app.showsTextWhenFetchFails
        offersInForeground = configuration.app.offersInForeground
        offersReply = configuration.app.offersReply
        neutralText = configuration.app.neutralText
        moreTitle = configuration.app.moreTitle
        replyTitle = configuration.app.replyTitle
        replyFailedText = configuration.app.replyFailedText
        refreshTask = configuration.app.refreshTask
        limits = configuration.app.limits
        contentLimits = configuration.contentLimits
        slowAnswerDelay = configuration.slowAnswerDelay
        hasActivities = !configuration.activityTypes.isEmpty
    }

    func configuration() throws -> RichPushConfiguration {
        var configuration = try RichPushConfiguration(backend: backend)
        configuration.keepsPasswordForSending = keepsPassword
        configuration.opensSealedContent = opensSealedContent
        configuration.showsTextWhenFetchFails = showsTextWhenFetchFails
        configuration.offersInForeground = offersInForeground
        configuration.offersReply = offersReply
        configuration.neutralText = neutralText
        configuration.moreTitle = moreTitle
        configuration.replyTitle = replyTitle
        configuration.replyFailedText = replyFailedText
        configuration.refreshTask = refreshTask
        configuration.limits = limits
        return configuration
    }

    /// The ports of a process of its own: nothing but the folder and the network is shared.
    func ports(isForApp: Bool, client: HTTPClient, log: any EventLog) throws -> DevicePorts {
        let clock = SystemClock()
        let folder = folder
        let transport = SwitchedTransport(
            connection: { NetworkSwitch.read(folder: folder) }, delay: slowAnswerDelay,
            transport: AsyncHTTPTransport(client: client, clock: clock), clock: clock)
        return try DevicePorts.simulated(
            folder: folder, isForApp: isForApp, limits: contentLimits, transport: transport, clock: clock,
            identifiers: SystemIdentifierSource(), log: log)
    }
}

extension DevicePorts {
    /// The ports of a simulated app or extension on the folder of its phone. Each process opens the folder anew, as on a phone.
    static func simulated(
        folder: URL, isForApp: Bool, limits: FileContentCache.Limits, transport: any HTTPTransport,
        clock: any ServiceClock, identifiers: any IdentifierSource, log: any EventLog
    ) throws -> DevicePorts {
        let group = folder.appendingPathComponent("group")
        let data = ProtectedData(folder: folder)
        return DevicePorts(
            transport: transport,
            secrets: try SimulatedKeychain(folder: folder.appendingPathComponent("keychain"), isForApp: isForApp, data: data),
            store: ProtectedStore(store: try FileSharedStore(folder: group.appendingPathComponent("records")), data: data),
            cache: ProtectedCache(
                cache: try FileContentCache(folder: group.appendingPathComponent("content"), limits: limits), data: data),
            clock: clock, identifiers: identifiers, log: log,
            power: SimulatedPower(memory: folder.appendingPathComponent(SystemMemory.fileName)))
    }
}

/// The phone's switch for low power, as each of its processes sees it.
private struct SimulatedPower: PowerState {
    let memory: URL

    func isSavingPower() async -> Bool { SystemMemory.read(memory).settings.lowPower }
}
