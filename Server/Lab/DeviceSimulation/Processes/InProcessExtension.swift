import RichPushDevice
import RichPushModel

/// The service extension inside the phone's own process, on the phone's clock: told to end shortly before its time, and not
/// listened to after it.
struct InProcessExtension: ExtensionHost {
    let configuration: RichPushConfiguration
    let ports: DevicePorts
    /// What the system gives it, and how long before its end it is told.
    let time: Duration
    let warning: Duration

    func run(_ request: EnrichmentRequest) async -> ExtensionEnd {
        let engine = EnrichmentEngine(configuration: configuration, device: ports)
        let (clock, time, warning) = (ports.clock, time, warning)
        let start = clock.uptime
        let result = FirstResult<(ExtensionEnd.Reason, NoticeContent?)>()
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
