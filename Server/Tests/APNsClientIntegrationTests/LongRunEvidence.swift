import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import NIOConcurrencyHelpers

/// What both ends saw of a long run, and whether the one explains what the other says.
///
/// The client reports on which stream of which connection each push went; the local APNs reports which requests it judged and
/// which faults it injected. A connection is the same for both when the requests on it are: all of them, for what comes back from one
/// connection goes in its order to the next and may begin there as it did before.
final class LongRunEvidence: APNsClientObserver {
    /// What became of a push.
    struct Push {
        var id: UUID
        var outcome: APNsOutcome
    }

    struct Verdict {
        /// What the client says and the local APNs does not explain.
        var contradictions: [String] = []
        /// Pushes that were answered with an injected status, and those of them whose answer was lost with its connection.
        var refusals = 0
        var lostRefusals = 0
        /// How many GOAWAYs the client can have met: fewer than were sent when their connection ended at once, or was left before.
        var goAways = 0...0
        /// Requests that the client wrote.
        var requests = 0
        /// How many of them came and were not judged: certainly, and at the most.
        var unjudged = 0...0
    }

    private struct Place: Hashable {
        var connection: Int
        var stream: Int
    }

    private struct Request {
        var stream: Int
        var id: UUID?
    }

    /// A connection as the local APNs saw it.
    private struct Seen {
        var judged: [Request] = []
        var faults: [(request: Request, fault: InjectedFault)] = []

        func isStruck(by condition: (InjectedFault) -> Bool) -> Bool { faults.contains { condition($0.fault) } }
    }

    private struct State {
        /// By the client's number, in the order of the streams.
        var written: [Int: [Request]] = [:]
        /// Where each push went last. Whatever was tried before did not process it, or it would not have been sent again; that may
        /// have been on a younger connection.
        var last: [UUID: Place] = [:]
        var seen: [Int: Seen] = [:]
        var newest = Place(connection: 0, stream: 0)
    }

    private let state = NIOLockedValueBox(State())

    func clientDidSend(_ request: APNsRequestReport) {
        state.withLockedValue { state in
            state.written[request.connection, default: []].append(Request(stream: request.stream, id: request.apnsID))
            if let id = request.apnsID { state.last[id] = Place(connection: request.connection, stream: request.stream) }
        }
    }

    func clientDidFinish(_ answer: APNsAnswerReport) {}

    /// Takes in a request that the local APNs judged.
    func note(_ exchange: APNsExchange) {
        let id = exchange.headers.first { $0.name == "apns-id" }.flatMap { UUID(uuidString: $0.value) }
        let request = Request(stream: exchange.stream, id: id)
        state.withLockedValue { state in
            state.seen[exchange.connection, default: Seen()].judged.append(request)
            if let fault = exchange.fault { state.seen[exchange.connection]?.faults.append((request, fault)) }
            state.newest = Place(connection: exchange.connection, stream: exchange.stream)
        }
    }

    /// Waits until everything that was judged has been taken in.
    func complete(_ apns: LocalAPNs) async {
        guard let last = apns.recordedExchanges.last else { return }
        let newest = Place(connection: last.connection, stream: last.stream)
        for _ in 0..<3_000 where state.withLockedValue({ $0.newest != newest }) { try? await Task.sleep(for: .milliseconds(10)) }
    }

    /// Judges what the client says of all pushes.
    func verdict(on pushes: [Push]) -> Verdict {
        let state = state.withLockedValue { $0 }
        let seen = Self.seenByClient(state)
        var verdict = Verdict()
        judge(pushes, state, seen, &verdict)
        count(state, seen, &verdict)
        let goAways = state.seen.values.filter { $0.isStruck(by: Self.isGoAway) }
        let certain = goAways.count { !$0.isStruck(by: Self.endsOrIsLeft) }
        verdict.goAways = certain...goAways.count
        return verdict
    }

    /// What the local APNs saw of each of the client's connections.
    private static func seenByClient(_ state: State) -> [Int: Seen] {
        let written = state.written.mapValues { requests in
            Dictionary(requests.map { ($0.stream, $0.id) }, uniquingKeysWith: { first, _ in first })
        }
        var seen: [Int: Seen] = [:]
        // Those with the most requests first: no other connection fits them. Of several that fit, the first is meant.
        for (_, connection) in state.seen.sorted(by: { ($1.value.judged.count, $0.key) < ($0.value.judged.count, $1.key) }) {
            let fitting = written.keys.sorted().first { number in
                seen[number] == nil && connection.judged.allSatisfy { written[number]?[$0.stream] == .some($0.id) }
            }
            if let fitting { seen[fitting] = connection }
        }
        return seen
    }

    private func judge(_ pushes: [Push], _ state: State, _ seen: [Int: Seen], _ verdict: inout Verdict) {
        var unknown: [UUID: APNsFailure] = [:]
        var reasons: [UUID: APNsReason] = [:]
        for push in pushes {
            if case .unknown(let failure) = push.outcome { unknown[push.id] = failure }
            if case .rejected(let rejection) = push.outcome { reasons[push.id] = rejection.reason }
        }
        for connection in seen.values {
            for case (let request, .status(_, let reason)) in connection.faults {
                guard let id = request.id else { continue }
                verdict.refusals += 1
                if unknown[id] != nil {
                    verdict.lostRefusals += 1
                } else if reasons.removeValue(forKey: id) != reason {
                    verdict.contradictions.append("a push that was refused with \(reason.rawValue) is reported otherwise")
                }
            }
        }
        verdict.contradictions += reasons.values.map { "a refusal with \($0.rawValue) that the local APNs did not send" }
        for (id, failure) in unknown {
            if let fault = Self.contradiction(failure, at: state.last[id], seen) { verdict.contradictions.append(fault) }
        }
    }

    /// Nothing when the fate of a push is to be expected: its stream was reset, or its connection was ended.
    private static func contradiction(_ failure: APNsFailure, at place: Place?, _ seen: [Int: Seen]) -> String? {
        guard let place, let connection = seen[place.connection] else { return "unknown, and never sent: \(failure)" }
        let own = connection.faults.filter { $0.request.stream == place.stream }.map(\.fault)
        let isReset = own.contains { if case .resetStream = $0 { true } else { false } }
        if failure == .streamReset { return isReset ? nil : "stream \(place) was not reset" }
        let explains = failure != .deadline && (connection.isStruck(by: endsConnection) || connection.isStruck(by: isGoAway))
        return explains ? nil : "\(failure) on \(place), where \(connection.faults.map(\.fault)) struck"
    }

    private func count(_ state: State, _ seen: [Int: Seen], _ verdict: inout Verdict) {
        var unjudged = (certain: 0, possible: 0)
        for (number, written) in state.written {
            verdict.requests += written.count
            let missing = written.count - (seen[number]?.judged.count ?? 0)
            if missing < 0 { verdict.contradictions.append("more was judged on connection \(number) than was written") }
            unjudged.possible += missing
            let isWhole = seen[number].map { !$0.isStruck(by: Self.endsConnection) && !$0.isStruck(by: Self.isGoAway) } ?? false
            if isWhole { unjudged.certain += missing }
        }
        verdict.unjudged = min(unjudged.certain, unjudged.possible)...max(unjudged.certain, unjudged.possible)
    }

    private static func isGoAway(_ fault: InjectedFault) -> Bool {
        if case .goAway = fault { true } else { false }
    }

    private static func endsConnection(_ fault: InjectedFault) -> Bool {
        switch fault {
        case .blackHole, .wedge, .resetConnection, .closeConnection: true
        default: false
        }
    }

    /// The client may not meet a GOAWAY that follows these, or not count it because it has left the connection.
    private static func endsOrIsLeft(_ fault: InjectedFault) -> Bool {
        if case .status(503, _) = fault { return true }
        return endsConnection(fault)
    }
}
