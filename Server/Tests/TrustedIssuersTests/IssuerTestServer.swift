import ClarionTesting
import RichPushModel
import Synchronization
import WireText

@testable import TrustedIssuers

/// What an issuer's server answers to whom: documents by address, which a test changes, and how often each was fetched.
final class IssuerTestServer: KeySetFetching {
    static let keysAddress = "https://keys.example.test/jwks"
    static let discoveryAddress = TokenSamples.issuer + "/.well-known/openid-configuration"

    private struct State {
        var answers: [String: FetchedDocument] = [:]
        var isDown = false
        var counts: [String: Int] = [:]
    }

    private let state = Mutex(State())
    /// Holds up fetches while it is closed.
    let gate = Gate()

    /// A server with a discovery document and a key set.
    init(keys entries: String..., cacheControl: String? = "max-age=3600") {
        set(Self.discoveryAddress, Self.discovery())
        rotate(to: entries, cacheControl: cacheControl)
    }

    static func discovery(_ changes: [String: String?] = [:]) -> String {
        Raw.object(["issuer": "\"\(TokenSamples.issuer)\"", "jwks_uri": "\"\(keysAddress)\""], changes)
    }

    var isDown: Bool {
        get { state.withLock { $0.isDown } }
        set { state.withLock { $0.isDown = newValue } }
    }

    func count(_ address: String = keysAddress) -> Int { state.withLock { $0.counts[address] ?? 0 } }

    /// Fetches of all addresses.
    var totalCount: Int { state.withLock { $0.counts.values.reduce(0, +) } }

    func rotate(to entries: [String], cacheControl: String? = "max-age=3600") {
        set(Self.keysAddress, "{\"keys\":[\(entries.joined(separator: ","))]}", cacheControl: cacheControl)
    }

    func set(_ address: String, _ body: String, status: Int = 200, cacheControl: String? = nil) {
        let headers = cacheControl.map { [(name: "Cache-Control", value: $0)] } ?? []
        let answer = FetchedDocument(status: status, headers: headers, body: Array(body.utf8))
        state.withLock { $0.answers[address] = answer }
    }

    func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument {
        state.withLock { $0.counts[address.text, default: 0] += 1 }
        await gate.pass()
        let answer = state.withLock { $0.isDown ? nil : $0.answers[address.text] }
        guard let answer else { throw KeySetFault("no connection to \(address.host)") }
        return answer
    }
}

/// Keeps key sets in memory, as the database of several nodes would.
final class MemoryKeySetStore: KeySetStore {
    private let sets = Mutex<[String: StoredKeySet]>([:])
    /// What every load passes.
    let gate = Gate()

    func load(issuer: String) async throws(KeySetFault) -> StoredKeySet? {
        await gate.pass()
        return sets.withLock { $0[issuer] }
    }

    func save(_ set: StoredKeySet) async throws(KeySetFault) { sets.withLock { $0[set.issuer] = set } }
}

/// A verifier with one issuer that is found by discovery.
struct RunningVerifier {
    let clock: ManualClock
    let verifier: TokenVerifier
    let log = LogNotes()

    init(
        _ server: IssuerTestServer, store: (any KeySetStore)? = nil, clock: ManualClock = ManualClock(),
        _ settings: [String: [String]] = [:]
    ) async throws {
        self.clock = clock
        let issuer = try await TokenSamples.issuer(settings.merging(["keys-document": []]) { $1 })
        verifier = await TokenVerifier(issuers: [issuer], fetching: server, store: store, clock: clock, logger: log.logger)
    }

    var standing: KeySetStanding { verifier.standings[0] }

    /// Runs it while a test does its work, from the first outcome of a fetch on.
    func run(_ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await verifier.run() }
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// Returns when the next renewal is waited for.
    func isAsleep() async -> Bool { await eventually { clock.sleeperCount > 0 } }

    func reason(_ token: String) async -> TokenError.Reason? { await TokenSamples.reason(token, by: verifier) }
}

extension TokenVerifier {
    /// How many callers wait for a fetch.
    var waiterCount: Int { caches.values.reduce(0) { $0 + $1.state.withLock { $0.waiters.count } } }
}
