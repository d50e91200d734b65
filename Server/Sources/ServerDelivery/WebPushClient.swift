import APNsHTTP2
import AsyncHTTPClient
import Logging
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

/// Posts messages to the push services of browsers: over the connections of the push client where a host speaks HTTP/2, else by an ordinary
/// HTTP client. A browser's owner chooses where its endpoint is, so each host has clients that are pinned to an address that was looked at.
final class WebPushClient: WebPushSending {
    /// The most hosts with clients; there are few push services.
    private static let capacity = 64
    /// After which a host is looked up anew.
    private static let freshness: Duration = .seconds(300)
    /// Connections to a host, of either protocol.
    private static let width = 16
    private static let answerBytes = 16_384
    private static let drainTime: Duration = .seconds(1)
    private static let lookupTime: Duration = .seconds(5)
    static let noAnswer = "no answer in time"
    static let noConnection = "no connection became free in time"

    /// The clients of a place with the requests that use them. They are closed when they are old and the last of those has ended.
    fileprivate struct Entry {
        /// The IP address that they connect to.
        let pinned: String
        /// Absent without TLS.
        let posts: HTTP2PostClient?
        /// For a place without TLS, or that did not choose HTTP/2.
        var requests: HTTPClient?
        var madeAt: Duration
        var users = 1
        var isReplaced = false
    }

    fileprivate struct Place: Hashable {
        var host: String
        var port: Int
        var isSecure: Bool
    }

    fileprivate struct State {
        var entries: [Int: Entry] = [:]
        var current: [Place: Int] = [:]
        var made = 0
        /// Made when it is needed. Absent also on a system without certificates of public authorities.
        var security: HTTP2PostSecurity?
        /// Whether the clients were closed for good. One that is made later is closed with its last request.
        var isClosed = false
    }

    private let connector: OutboundConnector
    private let clock: any ServiceClock
    private let group: any EventLoopGroup
    /// What fails is the outcome of its pushes. In the log, those who name hosts could write at will.
    private let silence = Logger(label: "clarion.web-push") { _ in SwiftLogNoOpLogHandler() }
    private let state = Mutex(State())

    /// Throws `not-ready` when the certificates of the settings cannot be read.
    init(_ settings: Settings.WebPush, clock: any ServiceClock, group: any EventLoopGroup) throws(ServiceError) {
        connector = try OutboundConnector(
            allowing: settings.rule.places, trustRoots: settings.trustRootsPath.map { ($0, "web-push-trust-roots-path") },
            clock: clock, group: group)
        (self.clock, self.group) = (clock, group)
        connector.start()
    }

    func post(_ request: WebPushRequest, within deadline: Duration) async -> WebPushReply {
        let end = clock.uptime + deadline
        do throws(OutboundRefusal) {
            let (number, entry) = try await entry(for: request.address, within: min(deadline / 2, Self.lookupTime))
            let (reply, isOutOfReach) = await reply(to: request, by: entry, number, until: end)
            leave(number, isReplaced: isOutOfReach)
            return reply
        } catch {
            return error == .noAddress ? .notSent(reason: error.reason) : .notAllowed(reason: error.reason)
        }
    }

    /// Also whether the host has to be looked up anew.
    private func reply(
        to request: WebPushRequest, by entry: Entry, _ number: Int, until end: Duration
    ) async -> (WebPushReply, isOutOfReach: Bool) {
        if entry.requests == nil, let posts = entry.posts,
            let found = await reply(to: request, by: posts, within: end - clock.uptime)
        {
            return found
        }
        guard let client = entry.requests ?? ordinaryClient(number, for: request.address) else {
            return (.notSent(reason: OutboundFailure.broken.reason(late: Self.noAnswer)), false)
        }
        return await reply(to: request, by: client, within: end - clock.uptime)
    }

    /// `nil` where the host does not choose HTTP/2, or wants HTTP/1.1: then it has not got the push.
    private func reply(
        to request: WebPushRequest, by posts: HTTP2PostClient, within deadline: Duration
    ) async -> (WebPushReply, isOutOfReach: Bool)? {
        let headers = request.headers + [("content-length", "\(request.body.count)")]
        switch await posts.post(request.body, to: request.address.target, headers: headers, within: deadline) {
        case .answered(let answer):
            return (.answered(WebPushAnswer(status: answer.status, retryAfter: answer.retryAfter, now: clock.now)), false)
        case .notSent(.otherProtocol): return nil
        case .notSent(let failure):
            let failure = OutboundFailure(of: failure)
            return (.notSent(reason: failure.reason(late: Self.noConnection)), failure.isOutOfReach)
        case .unknown(let failure): return (.unknown(reason: OutboundFailure(of: failure).reason(late: Self.noAnswer)), false)
        }
    }

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
            let reason = failure.reason(late: body.hasLeft ? Self.noAnswer : Self.noConnection)
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

    /// The clients of a place, which the caller gives back by their number.
    private func entry(
        for address: OutboundAddress, within deadline: Duration
    ) async throws(OutboundRefusal) -> (Int, Entry) {
        let place = Place(host: address.host, port: address.port, isSecure: address.isSecure)
        if let known = state.withLock({ $0.use(place, at: clock.uptime, freshness: Self.freshness) }) { return known }
        let pinned = try await connector.address(for: address, within: deadline)
        let (used, closing) = state.withLock { state in
            // Another request may have been faster; then its clients are those that both use.
            if let known = state.use(place, at: clock.uptime, freshness: Self.freshness) { return (known, [Entry]()) }
            let made = makeEntry(for: address, at: pinned, &state.security)
            return ((state.add(made, for: place), made), state.takeIdle(capacity: Self.capacity))
        }
        close(closing)
        return used
    }

    /// Nothing is connected yet.
    private func makeEntry(for address: OutboundAddress, at pinned: String, _ security: inout HTTP2PostSecurity?) -> Entry {
        var posts: HTTP2PostClient?
        if address.isSecure { security = security ?? (try? HTTP2PostSecurity(connector.trust)) }
        if address.isSecure, let security {
            posts = try? HTTP2PostClient(
                toAny: .init(host: pinned, port: address.port, serverName: address.host), authority: address.authority,
                security: security, connections: Self.width, eventLoopGroup: group, logger: silence)
        }
        return Entry(
            pinned: pinned, posts: posts,
            requests: posts == nil ? ordinaryClient(for: address, at: pinned) : nil, madeAt: clock.uptime)
    }

    private func ordinaryClient(for address: OutboundAddress, at pinned: String) -> HTTPClient {
        connector.client(for: address, at: pinned, width: Self.width, version: .http1Only)
    }

    /// The client for a place that did not choose HTTP/2, which is remembered with it; `nil` when all were closed meanwhile.
    private func ordinaryClient(_ number: Int, for address: OutboundAddress) -> HTTPClient? {
        state.withLock { state in
            guard let entry = state.entries[number] else { return nil }
            let client = entry.requests ?? ordinaryClient(for: address, at: entry.pinned)
            state.entries[number]?.requests = client
            return client
        }
    }

    private func leave(_ number: Int, isReplaced: Bool) {
        close(
            state.withLock { state in
                state.entries[number]?.users -= 1
                // What cannot be reached is looked up anew.
                if isReplaced { state.entries[number]?.isReplaced = true }
                return state.takeIdle(capacity: Self.capacity)
            })
    }

    /// Without waiting: the end of a connection may take long.
    private func close(_ entries: [Entry]) {
        for entry in entries {
            entry.posts?.beginToShutDown()
            entry.requests?.shutdown { _ in }
        }
    }

    /// Closes all clients. What was posted over HTTP/2 gets its answer before, until the limit.
    func shutDown(within limit: Duration) async {
        let entries = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return Array(state.entries.values)
        }
        await withDiscardingTaskGroup { group in
            for entry in entries {
                group.addTask {
                    await entry.posts?.shutdown(within: limit)
                    try? await entry.requests?.shutdown()
                }
            }
        }
        connector.shutDown()
    }
}

extension WebPushClient.State {
    fileprivate mutating func use(
        _ place: WebPushClient.Place, at uptime: Duration, freshness: Duration
    ) -> (Int, WebPushClient.Entry)? {
        guard let number = current[place], let entry = entries[number], !entry.isReplaced, uptime - entry.madeAt < freshness
        else { return nil }
        entries[number]?.users += 1
        return (number, entry)
    }

    fileprivate mutating func add(_ entry: WebPushClient.Entry, for place: WebPushClient.Place) -> Int {
        made += 1
        if let former = current[place] { entries[former]?.isReplaced = true }
        current[place] = made
        entries[made] = entry
        entries[made]?.isReplaced = isClosed
        return made
    }

    /// Takes out what no request uses and what another has replaced; beyond the capacity also the oldest.
    fileprivate mutating func takeIdle(capacity: Int) -> [WebPushClient.Entry] {
        guard entries.count > capacity || entries.values.contains(where: { $0.users == 0 && $0.isReplaced }) else { return [] }
        var leaving = entries.filter { $0.value.users == 0 && $0.value.isReplaced }.map(\.key)
        let rest = entries.filter { $0.value.users == 0 && !$0.value.isReplaced }.sorted { $0.key < $1.key }.map(\.key)
        leaving += rest.prefix(max(0, entries.count - leaving.count - capacity))
        return leaving.compactMap { number in
            current = current.filter { $0.value != number }
            return entries.removeValue(forKey: number)
        }
    }
}
