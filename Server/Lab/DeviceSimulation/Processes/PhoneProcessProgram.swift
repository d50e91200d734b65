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
                    for _ in 0..<(mistake == nil ? 1 : 2) { channel.send(FromExtension.content(content)) }
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
            notifications: system, push: system, environment: system, router: system, scheduling: system)
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

    /// Runs what on a phone is the system's and in memory before any extension starts, and here is in the program's own file, to be read
    /// from there when it is first used: hashing. Networking is such a part as well, but nothing is asked of a server without a push.
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

    /// Makes one that takes the place of the work; `false` for one that comes after it.
    private static func make(_ mistake: ExtensionMistake) -> Bool {
        switch mistake {
        case .answerTwice: return false
        case .hang: break
        case .crash: _exit(70)
        case .grow:
            BlockingThread.start {
                // More than any limit, and an end of its own in case nobody ends it.
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
struct ChannelLog: EventLog {
    let send: @Sendable (DeviceEvent) -> Void

    func record(_ event: DeviceEvent) { send(event) }
}
