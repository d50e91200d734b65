import APNsEmulation
import Foundation
import RichPushModel
import Synchronization
import Testing

/// What the local APNs was asked, request by request as it saw them. Its counts, which tests ask otherwise, are made on another way.
final class PushLedger: Sendable {
    /// A push that was accepted.
    struct Entry: Sendable {
        /// The `apns-id` of the request.
        var id: UUID?
        var token: String
        var receivedAt: Timestamp
    }

    private struct State {
        var entries: [Entry] = []
        var accepted = 0
    }

    private let state = Mutex(State())

    /// What was accepted since the last call of `forget`, in its order.
    var entries: [Entry] { state.withLock { $0.entries } }

    /// How much that is.
    var count: Int { state.withLock { $0.entries.count } }

    /// Begins anew.
    func forget() { state.withLock { $0.entries = [] } }

    /// Writes down what comes for as long as the body takes.
    func keep<Result>(_ apns: LocalAPNs, _ body: () async throws -> Result) async throws -> Result {
        let exchanges = apns.exchanges
        async let _: Void = read(exchanges)
        return try await body()
    }

    /// Returns when everything is written down that the local APNs has accepted so far.
    func catchUp(with apns: LocalAPNs) async throws {
        _ = try await eventually("the ledger has what the local APNs has counted") {
            state.withLock { $0.accepted } == apns.acceptanceCounts.values.reduce(0, +) ? true : nil
        }
    }

    private func read(_ exchanges: AsyncStream<APNsExchange>) async {
        for await exchange in exchanges {
            guard exchange.answer?.status == 200, let token = exchange.token else { continue }
            let id = exchange.headers.first { $0.name == "apns-id" }.flatMap { UUID(uuidString: $0.value) }
            let entry = Entry(id: id, token: token, receivedAt: exchange.receivedAt)
            state.withLock { state in
                state.entries.append(entry)
                state.accepted += 1
            }
        }
    }
}
