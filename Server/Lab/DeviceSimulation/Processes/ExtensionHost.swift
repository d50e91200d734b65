import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where the service extension runs.
protocol ExtensionHost: Sendable {
    /// Runs it for one push and says how it ended, at the latest when its time is over.
    func run(_ request: EnrichmentRequest) async -> ExtensionEnd
}

/// How a service extension ended for one push.
struct ExtensionEnd: Hashable, Sendable {
    enum Reason: String, Hashable, Sendable, CaseIterable {
        /// It handed something over by itself.
        case answered
        /// It handed over what it had when it was warned that its time ends.
        case expired
        /// It had to be ended at its deadline.
        case killedAtDeadline = "killed-at-deadline"
        /// It had to be ended because it took too much memory.
        case killedForMemory = "killed-for-memory"
        /// It ended by itself without an answer.
        case crashed
        case notStarted = "not-started"
    }

    var reason: Reason
    /// What it handed over; the system shows the push as it came when there is nothing.
    var content: NotificationContent?
    /// How much its own memory grew over what it had when it was ready, and how much all that is resident did, program code
    /// included; where that is measured.
    var grownBytes: Int?
    var grownResidentBytes: Int?
    /// The process that it ran in, if it had one of its own.
    var processID: Int32?
    /// From its being ready to its end.
    var took: Duration

    /// Human-readable.
    var sentence: String {
        switch reason {
        case .answered: "The service extension handed over the notification"
        case .expired: "The service extension handed over what it had when its time ended"
        case .killedAtDeadline: "The system ended the service extension at its deadline and shows the push as it came"
        case .killedForMemory: "The system ended the service extension for its memory and shows the push as it came"
        case .crashed: "The service extension crashed; the system shows the push as it came"
        case .notStarted: "The service extension could not be started; the system shows the push as it came"
        }
    }
}

/// The service extension inside the phone's own process, on the phone's clock. It is warned shortly before the end of its time;
/// a later answer is ignored.
struct InProcessExtension: ExtensionHost {
    let configuration: RichPushConfiguration
    let ports: DevicePorts
    /// What the system gives it, and how long before its end it is warned.
    let time: Duration
    let warning: Duration

    func run(_ request: EnrichmentRequest) async -> ExtensionEnd {
        let engine = EnrichmentEngine(configuration: configuration, device: ports)
        let (clock, time, warning) = (ports.clock, time, warning)
        let start = clock.uptime
        let result = FirstResult<(ExtensionEnd.Reason, NotificationContent?)>()
        let work = Task { await result.resolve((.answered, await engine.enrich(request, budget: time))) }
        let watch = Task {
            guard (try? await clock.sleep(for: time - warning)) != nil else { return }
            await engine.expire()
            guard (try? await clock.sleep(for: warning)) != nil else { return }
            await result.resolve((.killedAtDeadline, nil))
        }
        let (reason, content) = await result.value
        work.cancel()
        watch.cancel()
        let took = clock.uptime - start
        let isLate = reason == .answered && took >= time - warning
        return ExtensionEnd(reason: isLate ? .expired : reason, content: content, took: took)
    }
}

/// Messages from the phone to a service extension. The first line is its `ProcessSetup`.
enum ToExtension: Codable, Sendable {
    /// Improve this push within the budget.
    case enrich(EnrichmentRequest, budget: Duration)
    /// The end is near.
    case expire
}

/// Messages from a service extension to the phone.
enum FromExtension: Codable, Sendable {
    /// It runs, and its time may be counted.
    case ready
    case event(DeviceEvent)
    /// The content to show.
    case content(NotificationContent)
}

/// A mistake that a service extension makes on purpose, so that the phone's answer to it can be seen.
public enum ExtensionMistake: String, Sendable, CaseIterable {
    /// It never answers, not even when it is warned that its time ends.
    case hang
    /// It takes more memory than it may.
    case grow
    /// It ends without an answer.
    case crash
    /// It hands its content over twice.
    case answerTwice = "answer-twice"
}

/// The service extension as a process of its own, one for each push. Its time begins when it is ready. It is warned shortly before
/// the end, and killed at the end or when it grows too much (Reference/IOSClient.md#3). On the machine's clock.
struct ExtensionProcess: ExtensionHost {
    /// How long a process may need until it is ready.
    private static let startLimit: Duration = .seconds(30)
    /// How often its memory is measured.
    private static let pace: Duration = .milliseconds(10)
    /// How long it may take to end when its work is done.
    private static let endLimit: Duration = .seconds(2)

    let program: String
    let setup: ProcessSetup
    let time: Duration
    let warning: Duration
    /// The most that it may grow by, in bytes.
    let memoryLimit: Int
    let mistake: ExtensionMistake?
    let log: any EventLog
    /// It handed over once more than it may.
    let onSurplus: @Sendable () -> Void
    private let clock = SystemClock()

    init(
        _ configuration: SimulatedPhoneConfiguration, program: String, log: any EventLog,
        onSurplus: @escaping @Sendable () -> Void
    ) {
        self.program = program
        setup = ProcessSetup(configuration)
        time = configuration.backgroundTime
        warning = configuration.expiryWarning
        memoryLimit = configuration.extensionMemoryLimit
        mistake = configuration.extensionMistake
        self.log = log
        self.onSurplus = onSurplus
    }

    func run(_ request: EnrichmentRequest) async -> ExtensionEnd {
        let arguments = mistake.map { ["--mistake", $0.rawValue] } ?? []
        guard let process = try? PhoneProcess(program: program, role: .serviceExtension, arguments: arguments) else {
            return ExtensionEnd(reason: .notStarted, took: .zero)
        }
        let watch = ExtensionWatch()
        let reading = Task { await read(process, watch) }
        process.channel.send(setup)
        let isReady = await watch.ready.value(or: false, after: Self.startLimit, clock: clock)
        guard isReady else {
            await end(process, reading, at: .zero)
            return ExtensionEnd(reason: .notStarted, took: .zero)
        }
        let start = clock.uptime
        let base = ProcessMemory.of(process.processID)
        process.channel.send(ToExtension.enrich(request, budget: time))
        let guardian = Task { await guardTime(of: process, watch, base) }
        var end = await watch.end.value
        guardian.cancel()
        end.took = clock.uptime - start
        end.grownBytes = await watch.grownBytes
        end.grownResidentBytes = await watch.grownResidentBytes
        end.processID = process.processID
        // The caller waits for the notification, not for the end of the process.
        Task { [end] in await self.end(process, reading, at: end.content == nil ? .zero : Self.endLimit) }
        return end
    }

    private func read(_ process: PhoneProcess, _ watch: ExtensionWatch) async {
        for await line in process.channel.lines {
            switch try? JSONDecoder().decode(FromExtension.self, from: line) {
            case .ready: await watch.ready.resolve(true)
            case .event(let event): log.record(event)
            case .content(let content): if await !watch.answer(content) { onSurplus() }
            case nil: break
            }
        }
        await watch.ready.resolve(false)
        await watch.finish(.crashed)
    }

    /// Warns it before its end, kills it at its end, and measures its memory meanwhile.
    private func guardTime(of process: PhoneProcess, _ watch: ExtensionWatch, _ base: ProcessMemory?) async {
        let start = clock.uptime
        var isWarned = false
        while !Task.isCancelled {
            let spent = clock.uptime - start
            if spent >= time { return await kill(process, watch, .killedAtDeadline) }
            if !isWarned, spent >= time - warning {
                isWarned = true
                await watch.warn()
                process.channel.send(ToExtension.expire)
            }
            if let base, let now = ProcessMemory.of(process.processID) {
                await watch.grew(from: base, to: now)
                if now.own - base.own > memoryLimit { return await kill(process, watch, .killedForMemory) }
            }
            try? await clock.sleep(for: min(Self.pace, max(.milliseconds(1), time - spent)))
        }
    }

    private func kill(_ process: PhoneProcess, _ watch: ExtensionWatch, _ reason: ExtensionEnd.Reason) async {
        // First the answer, then the signal: its end by the signal is not its crash.
        await watch.finish(reason)
        process.kill()
    }

    private func end(_ process: PhoneProcess, _ reading: Task<Void, Never>, at limit: Duration) async {
        process.channel.close()
        let timer = process.kill(after: limit)
        _ = await process.exitStatus
        timer.cancel()
        await reading.value
    }
}

/// What is known of a running service extension. Of answer, deadline, memory and crash the first counts.
private actor ExtensionWatch {
    nonisolated let ready = FirstResult<Bool>()
    nonisolated let end = FirstResult<ExtensionEnd>()
    /// The most that it grew by.
    private(set) var grownBytes: Int?
    private(set) var grownResidentBytes: Int?
    private var isWarned = false
    private var answers = 0

    func warn() { isWarned = true }

    func grew(from base: ProcessMemory, to memory: ProcessMemory) {
        grownBytes = max(grownBytes ?? 0, memory.own - base.own)
        grownResidentBytes = max(grownResidentBytes ?? 0, memory.resident - base.resident)
    }

    /// Whether it was the first one. The system takes one content for a push; an extension that hands over more is faulty.
    func answer(_ content: NotificationContent) async -> Bool {
        answers += 1
        await end.resolve(ExtensionEnd(reason: isWarned ? .expired : .answered, content: content, took: .zero))
        return answers == 1
    }

    func finish(_ reason: ExtensionEnd.Reason) async {
        await end.resolve(ExtensionEnd(reason: reason, took: .zero))
    }
}

/// How much memory a process holds (Linux; nothing is known elsewhere).
private struct ProcessMemory: Hashable, Sendable {
    /// All that is resident, program code included.
    var resident: Int
    /// What is its own: written pages, which is what counts on a phone.
    var own: Int

    /// `nil` when it cannot be read, for example because the process has ended.
    static func of(_ processID: Int32) -> ProcessMemory? {
        guard let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8) else { return nil }
        var memory = ProcessMemory(resident: 0, own: 0)
        for line in status.split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 2, let kilobytes = Int(words[1]) else { continue }
            if words[0] == "VmRSS:" { memory.resident = kilobytes << 10 }
            if words[0] == "RssAnon:" || words[0] == "RssShmem:" { memory.own += kilobytes << 10 }
        }
        return memory.resident > 0 ? memory : nil
    }
}
