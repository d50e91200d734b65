import APNsProtocol
import NIOConcurrencyHelpers
import RichPushModel

/// The service behind the connections: judges requests, delivers, remembers. Thread-safe; every decision is made in one
/// visit to the state.
final class EmulatorCore: Sendable {
    let configuration: LocalAPNsConfiguration
    let clock: any ServiceClock
    let state: NIOLockedValueBox<ServiceState>
    let traffic: TrafficRecorder
    /// Streams that nobody reads any more, until the next visit to the state. Behind a lock of its own, which nobody holds while he
    /// calls out: a push is handed over under the lock of the state and takes the lock of the reading task there, and a task that
    /// is cancelled holds that lock while it says so here.
    private let departed = NIOLockedValueBox<[(device: String?, number: Int)]>([])

    init(configuration: LocalAPNsConfiguration, clock: any ServiceClock) {
        self.configuration = configuration
        self.clock = clock
        state = NIOLockedValueBox(ServiceState(configuration: configuration))
        traffic = TrafficRecorder(frames: configuration.retention.frames)
    }

    /// The rules as they are now.
    var rules: EmulationRules { state.withLockedValue { $0.rules } }

    /// A number for a new connection, from 1.
    func nextConnection() -> Int {
        state.withLockedValue { state in
            state.connectionCount += 1
            return state.connectionCount
        }
    }

    /// Lets the store decide, and carries its decisions out.
    func deliver(_ event: (inout ServiceState, Timestamp) -> [StoreAndForward.Instruction]) {
        let now = clock.now
        state.withLockedValue { state in
            seeOff(&state)
            let instructions = event(&state, now)
            state.carryOut(instructions, now: now)
        }
    }

    /// Brings a device online; see `LocalAPNs.connect`.
    func connect(device: String) -> AsyncStream<DeliveredPush> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DeliveredPush.self, bufferingPolicy: .bufferingNewest(configuration.retention.deviceQueue))
        let now = clock.now
        let (number, previous): (Int, ServiceState.Subscriber?) = state.withLockedValue { state in
            seeOff(&state)
            let number = state.nextNumber()
            guard !state.isFinished else { return (number, .init(number: number, continuation: continuation)) }
            let previous = state.devices.updateValue(.init(number: number, continuation: continuation), forKey: device)
            let waiting = state.store.connect(device, now: now)
            let broadcasts = state.channels.cameOnline(device, now: now)
            state.carryOut(waiting + broadcasts, now: now)
            return (number, previous)
        }
        previous?.continuation.finish()
        continuation.onTermination = { [weak self] _ in
            self?.departed.withLockedValue { $0.append((device, number)) }
        }
        return stream
    }

    /// Takes a device offline.
    func disconnect(device: String) {
        let subscriber: ServiceState.Subscriber? = state.withLockedValue { state in
            guard let subscriber = state.devices.removeValue(forKey: device) else { return nil }
            state.store.disconnect(device)
            return subscriber
        }
        // Outside the lock: ending a stream calls its reader.
        subscriber?.continuation.finish()
    }

    /// Takes those devices offline whose streams have ended, before anything is decided about them.
    func seeOff(_ state: inout ServiceState) {
        let left = departed.withLockedValue { departed in
            defer { departed = [] }
            return departed
        }
        for (device, number) in left {
            state.observers[number] = nil
            state.fateObservers[number] = nil
            guard let device, state.devices[device]?.number == number else { continue }
            state.store.disconnect(device)
            state.devices[device] = nil
        }
    }

    /// A new stream of exchanges.
    func observe() -> AsyncStream<APNsExchange> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: APNsExchange.self, bufferingPolicy: .bufferingNewest(configuration.retention.observerQueue))
        let number = state.withLockedValue { state in
            let number = state.nextNumber()
            state.observers[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in
            self?.departed.withLockedValue { $0.append((nil, number)) }
        }
        return stream
    }

    /// A new stream of what became of pushes that were not delivered at once.
    func observeFates() -> AsyncStream<PushFate> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PushFate.self, bufferingPolicy: .bufferingNewest(configuration.retention.observerQueue))
        let number = state.withLockedValue { state in
            let number = state.nextNumber()
            state.fateObservers[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in
            self?.departed.withLockedValue { $0.append((nil, number)) }
        }
        return stream
    }

    /// Ends every stream; one that is asked for later ends at once.
    func finish() {
        let (devices, observers, fateObservers) = state.withLockedValue { state in
            state.isFinished = true
            let streams = (Array(state.devices.values), Array(state.observers.values), Array(state.fateObservers.values))
            for device in state.devices.keys { state.store.disconnect(device) }
            state.devices.removeAll()
            state.observers.removeAll()
            state.fateObservers.removeAll()
            return streams
        }
        for device in devices { device.continuation.finish() }
        for observer in observers { observer.finish() }
        for observer in fateObservers { observer.finish() }
    }
}
