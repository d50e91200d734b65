import NIOConcurrencyHelpers
import ServiceEmulation

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The frames of every connection: the newest in full, all of them counted. Thread-safe.
final class TrafficRecorder: Sendable {
    private struct State {
        var frames: NewestEntries<FrameRecord>
        /// By connection.
        var statistics: [Int: TrafficStatistics] = [:]
        var connections: NewestEntries<Int>
        /// Grows when the counts begin anew; a connection that counted before has to begin anew too.
        var generation = 0
    }

    /// How many connections have statistics of their own.
    private static let keptConnections = 10_000

    let isOn: Bool
    private let state: NIOLockedValueBox<State>

    init(frames: Int) {
        isOn = frames > 0
        state = NIOLockedValueBox(
            State(frames: NewestEntries(capacity: frames), connections: NewestEntries(capacity: Self.keptConnections)))
    }

    /// Oldest first.
    var frames: [FrameRecord] { state.withLockedValue { $0.frames.elements } }

    var statistics: [Int: TrafficStatistics] { state.withLockedValue { $0.statistics } }

    /// The number of the present count.
    var generation: Int { state.withLockedValue { $0.generation } }

    /// Sets all counts to zero.
    func clearStatistics() {
        state.withLockedValue { state in
            state.statistics.removeAll()
            state.connections.clear()
            state.generation += 1
        }
    }

    /// Forgets the frames.
    func clearFrames() { state.withLockedValue { $0.frames.clear() } }

    /// Takes in some frames of a connection and what it has counted by now.
    func record(_ frames: [FrameRecord], connection: Int, statistics: TrafficStatistics) {
        state.withLockedValue { state in
            for frame in frames { state.frames.append(frame) }
            let isNew = state.statistics.updateValue(statistics, forKey: connection) == nil
            if isNew, let forgotten = state.connections.append(connection) { state.statistics[forgotten] = nil }
        }
    }
}

/// The frames of one connection, counted.
public struct TrafficStatistics: Sendable, Hashable, Codable {
    /// Frames of the client by name, for instance `PRIORITY`.
    public var received: [String: Int] = [:]
    /// Frames of the emulator by name.
    public var sent: [String: Int] = [:]
    /// Bodies of the client in bytes.
    public var receivedData = 0
    /// Streams that were refused with REFUSED_STREAM.
    public var refusedStreams = 0
    /// Header compression of the client.
    public var headers = HPACKStatistics()

    /// Creates statistics in which all counts are zero.
    public init() {}

    /// Adds what happened on another connection.
    public mutating func add(_ other: TrafficStatistics) {
        received.merge(other.received, uniquingKeysWith: +)
        sent.merge(other.sent, uniquingKeysWith: +)
        receivedData += other.receivedData
        refusedStreams += other.refusedStreams
        headers.add(other.headers)
    }
}

/// Keeps the newest exchanges and counts how often each `apns-id` was accepted.
struct ExchangeRecorder: Sendable {
    private var recent: NewestEntries<APNsExchange>
    private let countedIDs: Int
    private(set) var acceptances: [UUID: UInt32] = [:]
    /// Accepted pushes whose answer a fault withheld, until their retry.
    private var excused: Set<UUID> = []
    private var excusedRetries = 0

    init(retention: EmulationRetention) {
        recent = NewestEntries(capacity: retention.exchanges)
        countedIDs = retention.countedIDs
    }

    var recorded: [APNsExchange] { recent.elements }

    mutating func record(_ exchange: APNsExchange) { recent.append(exchange) }

    mutating func clear() { recent.clear() }

    /// How often a client sent a push again although it saw that the push was accepted.
    var repeatedAcceptances: Int { acceptances.values.reduce(0) { $0 + Int($1) - 1 } - excusedRetries }

    mutating func clearAcceptances() {
        acceptances.removeAll()
        excused.removeAll()
        excusedRetries = 0
    }

    /// A fault withheld the answer, so the client may send this push again.
    mutating func excuseNextRetry(of apnsID: UUID) {
        if acceptances[apnsID] != nil { excused.insert(apnsID) }
    }

    mutating func countAcceptance(_ apnsID: UUID) {
        if let index = acceptances.index(forKey: apnsID) {
            acceptances.values[index] += 1
            if excused.remove(apnsID) != nil { excusedRetries += 1 }
        } else if acceptances.count < countedIDs {
            acceptances[apnsID] = 1
        }
    }
}

/// Something that a good client does not do (Reference/APNs.md#1-4, #1-6 and #2-1), with how often it was seen.
public struct ClientComplaint: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// PRIORITY frames, which APNs ignores.
        case sentPriorityFrames
        /// Streams above the announced limit.
        case exceededStreamLimit
        /// DATA beyond the credit that can have reached the client.
        case overranWindow
        /// More headers than MAX_HEADER_LIST_SIZE allows; answered 431.
        case exceededHeaderList
        /// A connection that spoke something else than HTTP/2 behind its TLS handshake, HTTP/1.1 for instance.
        case spokeNoHTTP2
        /// A TLS handshake that failed: no TLS at all, an authority that the client does not trust, a client certificate that is
        /// refused.
        case failedHandshake
        /// Device tokens were put into the dynamic table, each 111 bytes of 4096.
        case indexedPaths
        /// `apns-id` was put into the dynamic table more than once for each connection.
        case indexedMessageIDs
        /// `authorization` went over the wire again though the provider token was the same.
        case repeatedAuthorization
        /// 429 `TooManyProviderTokenUpdates` was earned; an injected one does not count.
        case changedProviderTokenTooOften
        /// A push whose acceptance the client could see was sent and accepted again under the same `apns-id`.
        case repeatedAcceptedPushes
        /// A broadcast with `event` `start`. Apple documents that broadcasts update and end Live Activities.
        case startedActivityByBroadcast

        /// Whether it only costs bytes or tables and breaks no rule.
        public var isAdvice: Bool {
            switch self {
            case .sentPriorityFrames, .indexedPaths, .indexedMessageIDs, .repeatedAuthorization: true
            case .exceededStreamLimit, .overranWindow, .exceededHeaderList, .spokeNoHTTP2, .failedHandshake,
                .changedProviderTokenTooOften, .repeatedAcceptedPushes, .startedActivityByBroadcast:
                false
            }
        }
    }

    public var kind: Kind
    public var count: Int
}
