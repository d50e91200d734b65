import HTTPService
import Metrics
import PushHub
import Synchronization

/// Counts the imports and exports that this node works on.
final class JobMetrics: Sendable {
    private let factory: any MetricsFactory
    private let running = Mutex(0)

    init(factory: any MetricsFactory) {
        self.factory = factory
        Gauge(label: MetricName.jobsRunning.rawValue, factory: factory).record(0)
        // The series are there from the start, so that the first job that fails is seen as a rise.
        for state in HubJob.State.allCases where state.isFinal { ended(state).increment(by: 0) }
    }

    func note(_ event: JobEvent) {
        switch event {
        case .began: move(by: 1)
        case .paused: move(by: -1)
        case .ended(let state): ended(state).increment()
        }
    }

    private func move(by step: Int) {
        running.withLock { running in
            running += step
            Gauge(label: MetricName.jobsRunning.rawValue, factory: factory).record(running)
        }
    }

    private func ended(_ state: HubJob.State) -> Counter {
        Counter(
            label: MetricName.jobsEnded.rawValue, dimensions: [(MetricLabel.state.rawValue, state.rawValue)], factory: factory)
    }
}
