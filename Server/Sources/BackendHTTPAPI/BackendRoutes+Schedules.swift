import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// Sends that are due later.
extension BackendRoutes {
    func addScheduleRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "schedules", for: .send, to: router) { call in
            _ = try call.query()
            let answer = try await backend.schedule(
                try await scheduleRequest(call), idempotencyKey: call.idempotencyKey(), for: call.principal)
            var response = try Response.json(answer, status: .created)
            response.headers[.location] = "\(APIRoute.prefix)/schedules/\(answer.id)"
            return response
        }
        add(.get, "schedules", for: .readSends, to: router) { call in
            let query = try call.query("sender", "state", "before", "limit")
            let state = query["state"].flatMap(Schedule.State.init(rawValue:))
            guard [.waiting, .proposed].contains(state) || query["state"] == nil else {
                throw ServiceError(.invalidField, "state: it must be waiting or proposed, or absent for all")
            }
            let limit = try query.number("limit", in: 1...RichPushBackend.schedulePageLimit)
            return try .json(
                await backend.schedules(
                    sender: query["sender"], state: state, before: query["before"], limit: limit,
                    for: call.principal))
        }
        add(.get, "schedules/{id}", for: .readSends, to: router) { call in
            _ = try call.query()
            return try .json(await backend.schedule(call.objectID(), for: call.principal))
        }
        add(.put, "schedules/{id}", for: .send, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            return try .json(
                await backend.changeSchedule(id, to: try await scheduleRequest(call), for: call.principal))
        }
        add(.post, "schedules/{id}/approval", for: .approve, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            let body = try await call.request.readJSON(ApprovalBody.self, known: ["revision"], limits: options.json)
            return try .json(await backend.approveSchedule(id, revision: body.revision, for: call.principal))
        }
        add(.delete, "schedules/{id}", for: .recall, to: router) { call in
            _ = try call.query()
            try await backend.cancelSchedule(call.objectID(), for: call.principal)
            return Response(status: .noContent)
        }
    }

    private func scheduleRequest(_ call: AuthenticatedRequest) async throws -> ScheduleRequest {
        try await call.request.readJSON(ScheduleRequest.self, known: FieldNames.schedule, limits: options.json)
    }
}

/// The body of `POST /api/v1/schedules/{id}/approval`.
private struct ApprovalBody: Decodable {
    var revision: Int64
}

extension FieldNames {
    /// `ScheduleRequest`.
    fileprivate static let schedule = Set(send.map { "notification.\($0)" }).union([
        "notification", "sendAt", "localTime", "timeZone", "fallbackTimeZone", "repeat", "except", "expiresAfterSeconds",
        "approval",
    ])
}
