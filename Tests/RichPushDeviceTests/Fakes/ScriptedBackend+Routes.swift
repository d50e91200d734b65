import Foundation
import RichPushModel

@testable import RichPushDevice

extension ScriptedBackend {
    static func route(_ request: TransportRequest, _ state: inout State) -> TransportResponse {
        let authorization = request.headers["authorization"] ?? ""
        let path = request.url.path
        if path.hasPrefix("/api/v1/installations/") { return installation(request, authorization, &state) }
        if request.method == "POST", path == APIRoute.notifications {
            return user(authorization, state) == nil
                ? problem(401) : json(SendAnswer(id: id(7), trackingID: "t", readableBy: "you"), 201)
        }
        guard user(authorization, state) != nil || bearer(authorization, state) else { return problem(401) }
        switch (request.method, path) {
        case ("POST", APIRoute.receipts): return receipts(request, &state)
        case ("GET", APIRoute.notifications):
            let all = state.stored.values.map(\.entry).sorted { $0.id > $1.id }
            return json(InboxPage(notifications: all, unread: state.unread), 200)
        default: return notification(request, &state)
        }
    }

    private static func installation(
        _ request: TransportRequest, _ authorization: String, _ state: inout State
    ) -> TransportResponse {
        if request.url.path.hasSuffix("/activities") {
            guard bearer(authorization, state) else { return problem(401) }
            let named = (try? JSONDecoder().decode(ActivityReport.self, from: request.body ?? Data()))?.activities.map(\.id) ?? []
            return json(ActivityReportAnswer(ended: state.endedActivities.filter(named.contains)), 200)
        }
        if request.method == "DELETE" {
            guard bearer(authorization, state) || user(authorization, state) != nil else { return problem(401) }
            state.credentials = []
            state.bound[request.url.path] = nil
            return TransportResponse(status: 204)
        }
        let handle = (try? JSONDecoder().decode(InstallationUpdate.self, from: request.body ?? Data()))?.handle
        if let user = user(authorization, state) ?? tokenUser(authorization, state) {
            guard bind(request.url.path, to: user, handle, &state) else { return problem(410) }
            state.issued += 1
            let credential = "credential-\(state.issued)"
            state.credentials = [credential]
            return json(
                InstallationAnswer(
                    credential: credential, credentialExpiresAt: nil, user: user, environments: state.environments), 200)
        }
        guard bearer(authorization, state) else { return problem(401) }
        state.bound[request.url.path]?.handle = handle
        let user = state.bound[request.url.path]?.user ?? "alice"
        let answer = InstallationAnswer(
            credential: nil, credentialExpiresAt: nil, user: user, environments: state.environments)
        return json(answer, 200)
    }

    /// Who takes another user's installation over proves to have the device, with its token.
    private static func bind(_ path: String, to user: String, _ handle: String?, _ state: inout State) -> Bool {
        if let old = state.bound[path], old.user != user, old.handle == nil || old.handle != handle { return false }
        if let handle { state.bound = state.bound.filter { $0.value.handle != handle } }
        state.bound[path] = (user, handle)
        return true
    }

    private static func receipts(_ request: TransportRequest, _ state: inout State) -> TransportResponse {
        guard let batch = try? JSONDecoder().decode(ReceiptBatch.self, from: request.body ?? Data()) else { return problem(400) }
        state.receipts += batch.receipts
        return TransportResponse(status: 204)
    }

    private static func notification(_ request: TransportRequest, _ state: inout State) -> TransportResponse {
        let parts = request.url.path.split(separator: "/")
        guard parts.count >= 4, let id = RichID(parts[3]), let stored = state.stored[id] else { return problem(404) }
        if request.method == "PATCH" {
            state.reads.append(id)
            state.unread = max(0, state.unread - 1)
            state.stored[id]?.entry.read = true
            return TransportResponse(status: 204)
        }
        if parts.last == "details" { return json(stored.entry, 200) }
        if request.url.query == "variant=thumb" {
            return stored.thumb.map { TransportResponse(status: 200, body: $0) } ?? problem(404)
        }
        return TransportResponse(status: 200, body: stored.bytes)
    }

    private static func user(_ authorization: String, _ state: State) -> String? {
        state.passwords.first { authorization == "Basic " + Data("\($0.key):\($0.value)".utf8).base64EncodedString() }?.key
    }

    private static func tokenUser(_ authorization: String, _ state: State) -> String? {
        state.tokens.first { authorization == "Bearer \($0.key)" }?.value
    }

    private static func bearer(_ authorization: String, _ state: State) -> Bool {
        state.credentials.contains { authorization == "Bearer \($0)" }
    }

    static func json(_ value: some Encodable, _ status: Int) -> TransportResponse {
        TransportResponse(status: status, body: (try? JSONEncoder().encode(value)) ?? Data())
    }

    /// The server's problem document for this status.
    static func problem(_ status: Int) -> TransportResponse {
        let codes = [400: "invalid-field", 401: "unauthenticated", 403: "forbidden", 404: "not-found", 410: "registration-gone"]
        let problem = Problem(type: "about:blank", title: "No", status: status, detail: nil, code: codes[status] ?? "internal")
        return json(problem, status)
    }
}
