import AsyncHTTPClient
import NIOCore
import RichPushModel
import ServerSettings
import ServiceErrors
import SharedAccess
import Synchronization
import WebPushDelivery
import WebPushProtocol

/// The body of a request, which notes when a connection begins to take it: before that no receiver can have the request.
private final class NotedBody: RandomAccessCollection, Sendable {
    private let bytes: [UInt8]
    private let isTaken = Atomic(false)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var hasLeft: Bool { isTaken.load(ordering: .acquiring) }
    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count }

    subscript(position: Int) -> UInt8 {
        isTaken.store(true, ordering: .releasing)
        return bytes[position]
    }

    func withContiguousStorageIfAvailable<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result? {
        isTaken.store(true, ordering: .releasing)
        return try bytes.withContiguousStorageIfAvailable(body)
    }
}

/// Posts messages to the push services of browsers. A browser's owner chooses where its endpoint is, so each host has a client that is pinned to
/// an address that was looked at.
final class WebPushClient: WebPushSending {
    /// The most hosts with a client; there are few push services.
    private static let capacity = 64
    /// After which a host is looked up anew.
    private static let freshness: Duration = .seconds(300)
    /// Connections to a host that speaks no HTTP/2.
    private static let width = 16
    private static let answerBytes = 16_384
    private static let drainTime: Duration = .seconds(1)
    private static let lookupTime: Duration = .seconds(5)

    /// A client with the requests that use it. It is closed when it is old and the last of them has ended.
    fileprivate struct Entry {
        var client: HTTPClient
        var madeAt: Duration
        var users: Int
        var isReplaced = false
    }

    fileprivate struct Place: Hashable {
        var host: String
        var port: Int
    }

    fileprivate struct State {
        var entries: [Int: Entry] = [:]
        var current: [Place: Int] = [:]
        var made = 0
        /// Whether the clients were closed for good. One that is made later is closed with its last request.
        var isClosed = false
    }

    private let connector: OutboundConnector
    private let clock: any ServiceClock
    private let state = Mutex(State())

    /// Throws `not-ready` when the certificates of the settings cannot be read.
    init(_ settings: Settings.WebPush, clock: any ServiceClock, group: any EventLoopGroup) throws(ServiceError) {
        connector = try OutboundConnector(
            allowing: settings.rule, trustRoots: settings.trustRootsPath.map { ($0, "web-push-trust-roots-path") }, clock: clock,
            group: group)
        self.clock = clock
        connector.start()
    }

    func post(_ request: WebPushRequest, within deadline: Duration) async -> WebPushReply {
        let began = clock.uptime
        do throws(OutboundRefusal) {
            let (number, client) = try await client(for: request.address, within: min(deadline / 2, Self.lookupTime))
            let (reply, isOutOfReach) = await reply(to: request, by: client, within: deadline - (clock.uptime - began))
            end(number, isReplaced: isOutOfReach)
            return reply
        } catch {
            return error == .noAddress ? .notSent(reason: error.reason) : .notAllowed(reason: error.reason)
        }
    }

    /// Also whether the host has to be looked up anew.
    private func reply(
        to request: WebPushRequest, by client: HTTPClient, within deadline: Duration
    ) async -> (WebPushReply, isOutOfReach: Bool) {
        var message = HTTPClientRequest(url: request.address.url)
        message.method = .POST
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        let body = NotedBody(request.body)
        message.body = .bytes(body)
        do {
            let answer = try await client.execute(message, timeout: .milliseconds(max(1, deadline.wholeMilliseconds)))
            return (.answered(await self.answer(answer)), false)
        } catch {
            let failure = OutboundFailure(error)
            // A push that no connection took in its time has not left.
            let reason = failure.reason(late: body.hasLeft ? "no answer in time" : "no connection became free in time")
            let isUnsent = failure.isBeforeSending || !body.hasLeft
            return (isUnsent ? .notSent(reason: reason) : .unknown(reason: reason), failure.isOutOfReach)
        }
    }

    private func answer(_ answer: HTTPClientResponse) async -> WebPushAnswer {
        // The connection is used again when the body was read. What it says is not needed.
        _ = await clock.attempt(within: Self.drainTime, orElse: nil) { try? await answer.body.collect(upTo: Self.answerBytes) }
        return WebPushAnswer(
            status: Int(answer.status.code), retryAfter: answer.headers.first(name: "retry-after"), now: clock.now)
    }

    /// The client of a host, which the caller gives back by its number.
    private func client(
        for address: OutboundAddress, within deadline: Duration
    ) async throws(OutboundRefusal) -> (Int, HTTPClient) {
        let place = Place(host: address.host, port: address.port)
        if let known = state.withLock({ $0.use(place, at: clock.uptime, freshness: Self.freshness) }) { return known }
        let made = try await connector.client(for: address, width: Self.width, within: deadline)
        let (used, closing) = state.withLock { state in
            // Another request may have been faster; then its client is the one that both use.
            if let known = state.use(place, at: clock.uptime, freshness: Self.freshness) { return (known, [made]) }
            let number = state.add(made, for: place, at: clock.uptime)
            return ((number, made), state.takeIdle(capacity: Self.capacity))
        }
        close(closing)
        return used
    }

    private func end(_ number: Int, isReplaced: Bool) {
        close(
            state.withLock { state in
                state.entries[number]?.users -= 1
                // What cannot be reached is looked up anew.
                if isReplaced { state.entries[number]?.isReplaced = true }
                return state.takeIdle(capacity: Self.capacity)
            })
    }

    /// Without waiting: the end of a connection may take long.
    private func close(_ clients: [HTTPClient]) {
        for client in clients { client.shutdown { _ in } }
    }

    /// Closes all clients.
    func shutDown() async {
        let clients = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
        await connector.shutDown()
    }
}

extension WebPushClient.State {
    fileprivate mutating func use(
        _ place: WebPushClient.Place, at uptime: Duration, freshness: Duration
    ) -> (Int, HTTPClient)? {
        guard let number = current[place], let entry = entries[number], !entry.isReplaced, uptime - entry.madeAt < freshness
        else { return nil }
        entries[number]?.users += 1
        return (number, entry.client)
    }

    fileprivate mutating func add(_ client: HTTPClient, for place: WebPushClient.Place, at uptime: Duration) -> Int {
        made += 1
        if let former = current[place] { entries[former]?.isReplaced = true }
        current[place] = made
        entries[made] = .init(client: client, madeAt: uptime, users: 1, isReplaced: isClosed)
        return made
    }

    /// Takes out what no request uses and what another has replaced; beyond the capacity also the oldest.
    fileprivate mutating func takeIdle(capacity: Int) -> [HTTPClient] {
        var leaving = entries.filter { $0.value.users == 0 && $0.value.isReplaced }.map(\.key)
        let rest = entries.filter { $0.value.users == 0 && !$0.value.isReplaced }.sorted { $0.key < $1.key }.map(\.key)
        leaving += rest.prefix(max(0, entries.count - leaving.count - capacity))
        return leaving.compactMap { number in
            current = current.filter { $0.value != number }
            return entries.removeValue(forKey: number)?.client
        }
    }
}
