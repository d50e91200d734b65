import NIOCore
import RichPushModel
import Synchronization
import WebPushProtocol

/// A `SimulatedBrowser` with a connection, in the process or by WebSocket. The connection ends, the browser stays: `browser` goes into the
/// next session.
public final class BrowserSession: Sendable {
    /// Why a browser could not do what it was asked for.
    public enum Failure: Error, Hashable, Sendable {
        /// The connection ended, or was not made.
        case closed
        /// The service answered `register` with this status.
        case refused(status: Int)
    }

    /// What comes from the service.
    enum Incoming: Sendable, Hashable {
        case text(String)
        /// A close frame with this code.
        case closed(UInt16)
    }

    /// The two directions of a connection.
    struct Wire: Sendable {
        /// Ends with the connection.
        var incoming: AsyncStream<Incoming>
        var send: @Sendable (String) -> Void
        /// Sends a binary frame, which no browser does.
        var sendBytes: @Sendable ([UInt8]) -> Void
        var close: @Sendable () -> Void
    }

    private struct State: Sendable {
        var browser: SimulatedBrowser
        var isOpen = true
        var closeCode: UInt16?
        var hello: CheckedContinuation<Void, any Error>?
        var registrations: [String: CheckedContinuation<Void, any Error>] = [:]
    }

    /// What becomes of each push, as they come. Ends with the connection.
    public let pushes: AsyncStream<ReceivedPush>
    private let received: AsyncStream<ReceivedPush>.Continuation
    private let wire: Wire
    private let state: Mutex<State>

    private init(_ browser: SimulatedBrowser, _ wire: Wire) {
        self.wire = wire
        state = Mutex(State(browser: browser))
        (pushes, received) = AsyncStream.makeStream(of: ReceivedPush.self, bufferingPolicy: .bufferingNewest(10_000))
    }

    /// Begins and waits for the answer to `hello`.
    static func begin(_ browser: SimulatedBrowser, over wire: Wire) async throws -> BrowserSession {
        let session = BrowserSession(browser, wire)
        let hello = browser.hello()
        Task {
            for await incoming in wire.incoming {
                switch incoming {
                case .text(let text): session.receive(text)
                case .closed(let code): session.state.withLock { $0.closeCode = code }
                }
            }
            session.end()
        }
        try await withCheckedThrowingContinuation { continuation in
            let isOpen = session.state.withLock { state in
                if state.isOpen { state.hello = continuation }
                return state.isOpen
            }
            if isOpen { wire.send(hello) } else { continuation.resume(throwing: Failure.closed) }
        }
        return session
    }

    /// Connects within the process. Throws `Failure`.
    public static func connect(_ browser: SimulatedBrowser, to service: LocalWebPush) async throws -> BrowserSession {
        let core = service.core
        let (texts, continuation) = AsyncStream.makeStream(of: Incoming.self, bufferingPolicy: .bufferingNewest(10_000))
        let number = core.open { action in
            switch action {
            case .send(let text): continuation.yield(.text(text))
            case .close(let reason):
                continuation.yield(.closed(reason.code))
                continuation.finish()
            }
        }
        let wire = Wire(
            incoming: texts, send: { core.receive($0, on: number) },
            sendBytes: { _ in core.close(number, .binaryFrame) },
            close: {
                core.closed(number)
                continuation.finish()
            })
        return try await begin(browser, over: wire)
    }

    /// The browser as it is now.
    public var browser: SimulatedBrowser { state.withLock { $0.browser } }

    /// Whether the connection is there.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// The code with which the service has closed the connection (Reference/WebPush.md#6-3); `nil` when there was no close frame.
    public var closeCode: UInt16? { state.withLock { $0.closeCode } }

    /// Subscribes a page, and waits for the answer. Throws `Failure`.
    ///
    /// - Parameter serverKey: `applicationServerKey` in base64url; `nil` for an endpoint without VAPID.
    public func subscribe(serverKey: String?) async throws -> WebPushSubscription {
        let (channelID, text) = state.withLock { $0.browser.subscribe(serverKey: serverKey) }
        try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock { state in
                if state.isOpen { state.registrations[channelID] = continuation }
                return state.isOpen
            }
            if isOpen { wire.send(text) } else { continuation.resume(throwing: Failure.closed) }
        }
        guard let subscription = browser.subscription(channelID) else { throw Failure.closed }
        return subscription
    }

    /// Ends a subscription.
    public func unsubscribe(_ channelID: String) { send { $0.unsubscribe(channelID) } }

    /// The user withdraws the permission.
    public func withdrawPermission() { send { $0.withdrawPermission() } }

    /// Changes how the browser behaves from now on.
    public func change(_ change: @Sendable (inout SimulatedBrowser.Behaviour) -> Void) {
        state.withLock { change(&$0.browser.behaviour) }
    }

    /// Says anything, as a browser with a mistake does.
    public func say(_ text: String) { wire.send(text) }

    /// Sends a binary frame.
    public func say(bytes: [UInt8]) { wire.sendBytes(bytes) }

    /// Ends the connection.
    public func close() {
        wire.close()
        end()
    }

    private func send(_ body: (inout SimulatedBrowser) -> [String]) {
        for text in state.withLock({ body(&$0.browser) }) { wire.send(text) }
    }

    private func receive(_ text: String) {
        let (reaction, hello, registration) = state.withLock { state in
            let reaction = state.browser.receive(text)
            let hello = reaction.saidHello ? state.hello : nil
            if reaction.saidHello { state.hello = nil }
            let registration = reaction.registered.flatMap { state.registrations.removeValue(forKey: $0.channelID) }
            return (reaction, hello, registration)
        }
        for reply in reaction.replies { wire.send(reply) }
        for push in reaction.pushes { received.yield(push) }
        hello?.resume()
        let status = reaction.registered?.status ?? 200
        if status == 200 { registration?.resume() } else { registration?.resume(throwing: Failure.refused(status: status)) }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.isOpen = false
            let waiting = Array(state.registrations.values) + [state.hello].compactMap(\.self)
            state.registrations = [:]
            state.hello = nil
            return waiting
        }
        for continuation in waiting { continuation.resume(throwing: Failure.closed) }
        received.finish()
    }
}
