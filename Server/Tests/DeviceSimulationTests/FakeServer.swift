import ClarionTesting
import Foundation
import NIOConcurrencyHelpers
import RichPushDevice
import RichPushModel

/// A backend without a network for the phone's app: any name that equals its password signs in.
struct FakeServer: HTTPTransport {
    struct State {
        var requests: [TransportRequest] = []
        var entries: [RichID: (entry: InboxEntry, bytes: Data)] = [:]
        var receipts: [Receipt] = []
        var isSigned = false
        /// Whether it cannot be reached.
        var isAway = false
    }

    let state = NIOLockedValueBox(State())
    /// Where questions for the inbox wait while a test closes it.
    let inboxGate = Gate()
    /// The same for sign-ins and registrations.
    let signInGate = Gate()
    /// The same for receipts.
    let receiptGate = Gate()

    func store(_ number: Int32, _ bytes: Data, sha256: String, kind: ContentKind = .image, mediaType: String = "image/png") {
        let id = RichID(number: number)!
        let content = ContentDescriptor(mediaType: mediaType, byteCount: Int64(bytes.count), sha256: sha256)
        let entry = InboxEntry(
            id: id, kind: kind, title: "Title \(number)", subtitle: "Subtitle \(number)", message: "Message \(number)",
            altText: "Alt", sender: "alice", sentAt: Timestamp(milliseconds: Int64(number)), content: content, thumb: content)
        state.withLockedValue { $0.entries[id] = (entry, bytes) }
    }

    var receipts: [Receipt] { state.withLockedValue { $0.receipts } }

    /// What installations said of themselves, oldest first.
    var updates: [InstallationUpdate] {
        let bodies = state.withLockedValue { $0.requests.filter { $0.method == "PUT" }.compactMap(\.body) }
        return bodies.compactMap { try? JSONDecoder().decode(InstallationUpdate.self, from: $0) }
    }

    /// What was reported of Live Activities, oldest first.
    var activityReports: [ActivityReport] {
        let bodies = state.withLockedValue {
            $0.requests.filter { $0.method == "PUT" && $0.url.path.hasSuffix("/activities") }.compactMap(\.body)
        }
        return bodies.compactMap { try? JSONDecoder().decode(ActivityReport.self, from: $0) }
    }

    func setAway(_ isAway: Bool) { state.withLockedValue { $0.isAway = isAway } }

    func count(_ method: String, _ ending: String) -> Int {
        state.withLockedValue { $0.requests.count { $0.method == method && $0.url.path.hasSuffix(ending) } }
    }

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        state.withLockedValue { $0.requests.append(request) }
        if request.method == "GET", request.url.path == APIRoute.notifications { await inboxGate.pass() }
        if request.method == "PUT" { await signInGate.pass() }
        if request.url.path == APIRoute.receipts { await receiptGate.pass() }
        guard !state.withLockedValue(\.isAway) else { throw .unreachable }
        return state.withLockedValue { Self.answer(request, &$0) }
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        var response = try await send(request, maximumBytes: 0, deadline: deadline)
        guard response.status == 200 else { return response }
        guard (try? response.body.write(to: file)) != nil else { throw .fileNotWritable }
        response.body = Data()
        return response
    }

    private static func answer(_ request: TransportRequest, _ state: inout State) -> TransportResponse {
        switch (request.method, request.url.path) {
        case ("PUT", let path) where path.hasSuffix("/activities"): return json(ActivityReportAnswer(ended: []))
        case ("PUT", _): return signIn(request, &state)
        case ("DELETE", _):
            state.isSigned = false
            return TransportResponse(status: 204)
        case _ where !state.isSigned: return TransportResponse(status: 401)
        case ("POST", APIRoute.receipts):
            let batch = request.body.flatMap { try? JSONDecoder().decode(ReceiptBatch.self, from: $0) }
            state.receipts += batch?.receipts ?? []
            return TransportResponse(status: 204)
        case ("POST", APIRoute.content):
            let content = ContentDescriptor(mediaType: "image/png", byteCount: 1, sha256: "")
            return json(ContentAnswer(id: "content-1", content: content))
        case ("POST", _): return TransportResponse(status: 200)
        case ("GET", APIRoute.notifications):
            let entries = state.entries.values.map(\.entry).sorted { $0.id > $1.id }
            return json(InboxPage(notifications: entries, unread: entries.count { !$0.read }))
        default: return notification(request, &state)
        }
    }

    private static func notification(_ request: TransportRequest, _ state: inout State) -> TransportResponse {
        let parts = request.url.path.split(separator: "/")
        guard parts.count > 3, let id = RichID(parts[3]), let stored = state.entries[id] else {
            return missing
        }
        if request.method == "PATCH" { state.entries[id]?.entry.read = true }
        if parts.last == "details" { return json(stored.entry) }
        return TransportResponse(status: 200, body: stored.bytes)
    }

    private static func signIn(_ request: TransportRequest, _ state: inout State) -> TransportResponse {
        let header = request.headers["authorization"] ?? ""
        if header == "Bearer token.of.bob" {
            state.isSigned = true
            return json(InstallationAnswer(credential: "credential", credentialExpiresAt: nil, user: "bob"))
        }
        if header.hasPrefix("Bearer ") {
            return json(InstallationAnswer(credential: nil, credentialExpiresAt: nil, user: "alice"))
        }
        let decoded = Data(base64Encoded: String(header.dropFirst(6))).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let parts = decoded.split(separator: ":")
        guard parts.count == 2, parts[0] == parts[1] else { return TransportResponse(status: 401) }
        state.isSigned = true
        return json(InstallationAnswer(credential: "credential", credentialExpiresAt: nil, user: String(parts[0])))
    }

    /// What the server says of what is not there, or another user's.
    static var missing: TransportResponse {
        json(Problem(type: "about:blank", title: "No", status: 404, detail: nil, code: "not-found"), status: 404)
    }

    private static func json(_ value: some Encodable, status: Int = 200) -> TransportResponse {
        TransportResponse(status: status, body: (try? JSONEncoder().encode(value)) ?? Data())
    }
}
