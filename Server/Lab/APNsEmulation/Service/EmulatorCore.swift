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
    /// Streams whose readers are gone; the next visit to the state removes them. Separate lock: `onTermination` runs under the
    /// reading task's lock, which `yield` takes under the state lock; one lock would deadlock.
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

    /// Passes an event to the store and applies its decisions.
    func deliver(_ event: (inout ServiceState, Timestamp) -> [StoreAndForward.Instruction]) {
        let now = clock.now
        state.withLockedValue { state in
            removeEndedStreams(from: &state)
            let instructions = event(&state, now)
            state.apply(instructions, now: now)
        }
    }

    /// Brings a device online; see `LocalAPNs.connect`.
    func connect(device: String) -> AsyncStream<DeliveredPush> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DeliveredPush.self, bufferingPolicy: .bufferingNewest(configuration.retention.deviceQueue))
        let now = clock.now
        let (number, previous): (Int, ServiceState.Subscriber?) = state.withLockedValue { state in
            removeEndedStreams(from: &state)
            let number = state.nextNumber()
            guard !state.isFinished else { return (number, .init(number: number, continuation: continuation)) }
            let previous = state.devices.updateValue(.init(number: number, continuation: continuation), forKey: device)
            let waiting = state.store.connect(device, now: now)
            let broadcasts = state.channels.cameOnline(device, now: now)
            state.apply(waiting + broadcasts, now: now)
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

    /// Takes devices whose streams have ended offline, before the next decision about them.
    func removeEndedStreams(from state: inout ServiceState) {
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
    func observe() -> AsyncStream<APNsExchange> { observe(\.observers) }

    /// A new stream of what became of pushes that were not delivered at once.
    func observeFates() -> AsyncStream<PushFate> { observe(\.fateObservers) }

    private func observe<Element>(
        _ observers: any WritableKeyPath<ServiceState, [Int: AsyncStream<Element>.Continuation]> & Sendable
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(configuration.retention.observerQueue))
        let number = state.withLockedValue { state in
            let number = state.nextNumber()
            state[keyPath: observers][number] = continuation
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

    /// Judges a request, does what it asks if it is accepted, and records both. `credentials` belongs to the connection.
    func judge(_ request: APNsRequest, credentials: inout ConnectionCredentials) -> Verdict {
        let credential = judgeCredential(of: request, credentials: &credentials)
        let (now, uptime) = (clock.now, clock.uptime)
        let known = credentials
        let (verdict, tokenPassed, evidence, appSequence) = state.withLockedValue { state in
            removeEndedStreams(from: &state)
            let evidence = state.evidence(
                for: request, credential: credential, credentials: known, environment: configuration.environment, now: now,
                uptime: uptime)
            let (refusal, credentialsPassed) = RequestCheck.judge(evidence)
            let verdict = state.decide(evidence, refusal: refusal)
            state.record(evidence, verdict: verdict)
            return (verdict, credentialsPassed, evidence, state.registry.appSequence)
        }
        if tokenPassed, case .signed(let key, let issuedAt) = credential,
            let token = Credential.bearerToken(request.head.authorization)
        {
            if !evidence.tokenCalledExpired, !verdict.faultRefusesToken {
                credentials.adopt(token, of: key, issuedAt: issuedAt, uptime: uptime, replacing: evidence.currentToken)
            }
            if let status = verdict.answer?.status, (200..<300).contains(status) {
                credentials.bind(to: key, appSequence: appSequence)
            }
        }
        return verdict
    }

    /// Judges a request whose body is not here yet: `nil` if its method, path and credentials have nothing wrong.
    func judgeEarly(_ request: APNsRequest, credentials: inout ConnectionCredentials) -> Verdict? {
        let credential = judgeCredential(of: request, credentials: &credentials)
        let (now, uptime) = (clock.now, clock.uptime)
        let known = credentials
        return state.withLockedValue { state in
            let evidence = state.evidence(
                for: request, credential: credential, credentials: known, environment: configuration.environment, now: now,
                uptime: uptime)
            guard let refusal = RequestCheck.judge(evidence, credentialsOnly: true).refusal else { return nil }
            let verdict = state.decide(evidence, refusal: refusal)
            state.record(evidence, verdict: verdict)
            return verdict
        }
    }

    /// Verifies the provider token outside the lock, once per connection and token. A client certificate goes before it.
    private func judgeCredential(of request: APNsRequest, credentials: inout ConnectionCredentials) -> Credential {
        if let certificate = credentials.certificate { return .certificate(certificate) }
        guard let authorization = request.head.authorization else { return .missing }
        let generation = state.withLockedValue { $0.registry.keyGeneration }
        if let known = credentials.known(authorization, generation: generation) { return known }
        let registry = state.withLockedValue { $0.registry }
        let credential = Credential(authorization: authorization, registry: registry)
        credentials.keep(credential, for: authorization)
        state.withLockedValue { state in
            if state.authorizations.count < 100 { state.authorizations.insert(authorization.hashValue) }
        }
        return credential
    }
}
