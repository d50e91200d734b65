import Foundation
import RichPushModel

@testable import RichPushDevice

/// A backend without a network: it knows one user's notifications, checks authorization, and can be set to misbehave.
final class ScriptedBackend: HTTPTransport {
    struct Stored {
        var entry: InboxEntry
        var bytes: Data
        var thumb: Data?
    }

    struct State {
        var requests: [TransportRequest] = []
        var stored: [RichID: Stored] = [:]
        var unread = 0
        var passwords = ["alice": "secret", "bob": "hidden"]
        /// The users by their sign-in tokens, which only the exchange takes.
        var tokens = ["token.of.alice": "alice", "token.of.bob": "bob"]
        var credentials: Set<String> = []
        /// Who has an installation, and the device token it came with, by the path.
        var bound: [String: (user: String, handle: String?)] = [:]
        var issued = 0
        var receipts: [Receipt] = []
        var reads: [RichID] = []
        /// What it answers to a report of Live Activities.
        var endedActivities: [Int64] = []
        var isOffline = false
        /// What it has credentials for.
        var environments: [String]?
        /// Answers instead of the usual one; asked first.
        var script: (@Sendable (TransportRequest) -> Result<TransportResponse, TransportError>?)?
        /// Where requests whose path contains the word wait, or ends with it if it ends with `$`.
        var gates: [String: Gate] = [:]
    }

    let state = Locked(State())

    var requests: [TransportRequest] { state.with { $0.requests } }
    var receipts: [Receipt] { state.with { $0.receipts } }

    func count(_ method: String, _ path: String) -> Int {
        requests.count { $0.method == method && $0.url.path.hasSuffix(path) }
    }

    func script(_ script: (@Sendable (TransportRequest) -> Result<TransportResponse, TransportError>?)?) {
        state.with { $0.script = script }
    }

    func endActivities(_ ids: [Int64]) { state.with { $0.endedActivities = ids } }

    func setOffline(_ offline: Bool) { state.with { $0.isOffline = offline } }

    /// Puts a picture on the server.
    @discardableResult
    func store(
        _ number: Int32, kind: ContentKind = .image, bytes: Data? = Samples.png(1), mediaType: String = "image/png",
        title: String? = "Title", message: String = "Words", thumb: Data? = nil
    ) -> InboxEntry {
        let entry = Samples.entry(
            number, kind: kind, bytes: bytes, mediaType: mediaType, title: title, message: message, thumb: thumb)
        state.with { state in
            state.stored[entry.id] = Stored(entry: entry, bytes: bytes ?? Data(), thumb: thumb)
            state.unread += 1
        }
        return entry
    }

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        try await answer(request)
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        var response = try await answer(request)
        guard response.status == 200 else { return response }
        guard response.body.count <= maximumBytes else { throw .tooLarge }
        guard (try? response.body.write(to: file, options: .withoutOverwriting)) != nil else { throw .fileNotWritable }
        response.body = Data()
        return response
    }

    private func answer(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let gate = state.with { state in
            state.requests.append(request)
            return state.gates.first { "\(request.url.path)$".contains($0.key) }?.value
        }
        await gate?.pass()
        let scripted = state.with { $0.script }?(request)
        if let scripted { return try scripted.get() }
        let answer: TransportResponse? = state.with { state in state.isOffline ? nil : Self.route(request, &state) }
        guard let answer else { throw .unreachable }
        return answer
    }
}
