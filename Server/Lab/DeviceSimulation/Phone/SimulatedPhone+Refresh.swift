import RichPushDevice
import RichPushModel

/// What the system does with an app that wants to be run now and then (Reference/IOSClient.md#3): when the app said, and not
/// while the user or the budget is against it.
extension SimulatedPhone {
    /// How long the system waits after it could not.
    private static let secondThought: Duration = .seconds(900)

    /// The app's wish; the last one counts.
    func scheduleRefresh(after pause: Duration) {
        refreshTimer?.cancel()
        let clock = clock
        refreshTimer = Task {
            guard (try? await clock.sleep(for: pause)) != nil else { return }
            await refreshApp()
        }
    }

    private func refreshApp() async {
        for instruction in system.handle(.refresh, at: clock.now) {
            switch instruction {
            case .drop(let reason): story.tell(.held, nil, "The app's refresh: " + reason.sentence)
            case .hold(let reason):
                story.tell(.held, nil, "The app's refresh: " + reason.sentence)
                scheduleRefresh(after: Self.secondThought)
            case .startApp, .resumeApp: story.tell(.woken, nil, "The system wakes the app for its refresh")
            case .refreshApp:
                handing += 1
                await runRefresh()
            default: break
            }
        }
        publish()
    }

    /// The app has to answer in time, as for a push; one that does not is ended.
    private func runRefresh() async {
        defer { handing -= 1 }
        suspension?.cancel()
        let ends = ends
        guard let app = await app(since: ends, nil, nil) else { return await endTask(since: ends) }
        let (clock, time) = (clock, configuration.backgroundTime)
        let start = clock.uptime
        let first = FirstResult<Bool?>()
        let work = Task { await first.resolve(await app.handleBackgroundRefresh(budget: time)) }
        let watch = Task {
            guard (try? await clock.sleep(for: time + .seconds(1))) != nil else { return }
            await first.resolve(nil)
        }
        let answer = await first.value
        work.cancel()
        watch.cancel()
        let took = ["refresh-ms": "\((clock.uptime - start).wholeMilliseconds)"]
        if let answer {
            let detail = took.merging(["refreshed": answer ? "yes" : "no"]) { first, _ in first }
            story.tell(.woken, nil, "The app is done with its refresh", detail)
        } else {
            story.tell(.failed, nil, "The system ended the app: it did not answer in time", took)
            if engine === app { try? await happen(.endApp) }
        }
        await readApp()
        await endTask(since: ends)
    }
}
