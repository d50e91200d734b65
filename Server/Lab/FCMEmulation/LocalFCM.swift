import Logging
import NIOCore
import RichPushModel
import ServiceEmulation
import Synchronization

/// A strict FCM on this machine: token endpoint, HTTP v1 API and topics for any sender on one side, phones on the other.
///
/// It judges requests as Google does and more strictly (Reference/FCM.md#7), keeps Google's quotas, and fails on demand. It
/// shares no code with any client, so that a mistake cannot hide on both sides. Every decision is one visit to the state.
public final class LocalFCM: Sendable {
    /// Where it listens.
    public struct Address: Sendable, Hashable {
        public var host: String
        public var port: Int
    }

    private struct Guarded: Sendable {
        var state: FCMServiceState
        var phones: [String: AsyncStream<AndroidEvent>.Continuation] = [:]
        var observer: AsyncStream<FCMNews>.Continuation?
        var refusesConnections = false
        var isFinished = false
    }

    let settings: LocalFCMSettings
    let clock: any ServiceClock
    let logger: Logger
    private let guarded: Mutex<Guarded>
    private let listener: LocalListener<LocalFCMError>

    /// Creates a service; nothing listens before `start`.
    ///
    /// - Parameter random: makes ids and tokens. A source with a seed makes a run repeatable, except for keys.
    public init(
        settings: LocalFCMSettings, clock: any ServiceClock, group: any EventLoopGroup, logger: Logger,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        (self.settings, self.clock, self.logger) = (settings, clock, logger)
        guarded = Mutex(Guarded(state: FCMServiceState(settings: settings, clock: clock, random: random)))
        listener = LocalListener(
            host: settings.host, port: settings.port, allowsRemoteClients: settings.allowsRemoteClients,
            limit: settings.bounds.connections, group: group)
    }

    /// Listens. Refuses an address that other machines reach, unless the settings allow it. Throws `LocalFCMError`.
    @discardableResult
    public func start() async throws -> Address {
        let port = try await listener.start(isOpen: { !self.refusesConnections }) { () throws(LocalFCMError) in
            let tls = try settings.identity.tls()
            return { channel in try self.configure(channel, tls) }
        }
        with { $0.listens(settings, on: port) }
        logger.info("The local FCM listens", metadata: ["host": "\(settings.host)", "port": "\(port)"])
        return Address(host: settings.host, port: port)
    }

    /// Closes every connection and ends the streams of phones, also later ones. It may not be started again.
    public func shutdown() async {
        await listener.shutdown()
        guarded.withLock { guarded in
            guarded.isFinished = true
            for phone in guarded.phones.values { phone.finish() }
            guarded.observer?.finish()
        }
    }

    /// Reads or changes the state. What follows for phones is passed on under the lock, so that it keeps its order.
    func with<Result: Sendable, Failure: Error>(
        _ body: (inout sending FCMServiceState) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try guarded.withLock { guarded throws(Failure) in
            defer {
                for record in guarded.state.events { guarded.phones[record.device]?.yield(record.event) }
                guarded.state.events.removeAll(keepingCapacity: true)
                for news in guarded.state.news { guarded.observer?.yield(news) }
                guarded.state.news.removeAll(keepingCapacity: true)
            }
            return try body(&guarded.state)
        }
    }

    func handle(_ request: GoogleRequest) -> FCMCallVerdict {
        let call = FCMCall(request)
        return with { $0.handle(call) }
    }

    /// A stream whose reader takes the place of the one before.
    private func stream<Element: Sendable>(
        _ reader: (inout Guarded, AsyncStream<Element>.Continuation) -> AsyncStream<Element>.Continuation?
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(settings.bounds.phoneEvents))
        guarded.withLock { guarded in
            reader(&guarded, continuation)?.finish()
            if guarded.isFinished { continuation.finish() }
        }
        return stream
    }

    /// What happens on a phone from here. A second call takes the place of the first, whose stream ends.
    func events(of device: String) -> AsyncStream<AndroidEvent> {
        stream { guarded, reader in guarded.phones.updateValue(reader, forKey: device) }
    }

    /// Requests and deliveries from here on. A second call takes the place of the first, whose stream ends. Of an observer that is
    /// slow, the oldest go.
    public var news: AsyncStream<FCMNews> {
        stream { guarded, reader in
            defer { guarded.observer = reader }
            return guarded.observer
        }
    }

    /// Whether new connections end as soon as they are there.
    public var refusesConnections: Bool {
        get { guarded.withLock { $0.refusesConnections } }
        set { guarded.withLock { $0.refusesConnections = newValue } }
    }
}
