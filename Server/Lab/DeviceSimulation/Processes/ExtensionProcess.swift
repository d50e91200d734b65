import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The service extension as a process of its own, one for each push. Its time begins when it is ready; shortly before the end it
/// is told, at the end it is killed, and so it is when it grows too much (Reference/IOSClient.md#3). On the machine's clock.
struct ExtensionProcess: ExtensionHost {
    /// How long a process may need until it is ready.
    private static let startLimit: Duration = .seconds(30)
    /// How often its memory is looked at.
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
        let isReady = await first(of: watch.ready, or: false, after: Self.startLimit)
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
        // Whoever waits for the notification does not wait for the process.
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

    /// Tells it of its end, ends it, and looks at its memory all the while.
    private func guardTime(of process: PhoneProcess, _ watch: ExtensionWatch, _ base: ProcessMemory?) async {
        let start = clock.uptime
        var isTold = false
        while !Task.isCancelled {
            let spent = clock.uptime - start
            if spent >= time { return await kill(process, watch, .killedAtDeadline) }
            if !isTold, spent >= time - warning {
                isTold = true
                await watch.tellOfEnd()
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
        let (clock, status) = (clock, process)
        let timer = Task {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            status.kill()
        }
        _ = await process.exitStatus
        timer.cancel()
        await reading.value
    }

    private func first<Value: Sendable>(of result: FirstResult<Value>, or other: Value, after limit: Duration) async -> Value {
        let clock = clock
        let timer = Task {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            await result.resolve(other)
        }
        defer { timer.cancel() }
        return await result.value
    }
}
