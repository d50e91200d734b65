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
            guard query["state"].map({ $0 == Schedule.State.waiting.rawValue }) ?? true else {
                throw ServiceError(.invalidField, "state: it must be waiting, or absent for all")
            }
            let limit = try query.number("limit", in: 1...RichPushBackend.schedulePageLimit)
            return try .json(
                await backend.schedules(
                    sender: query["sender"], isWaiting: query["state"] != nil, before: query["before"], limit: limit,
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

extension FieldNames {
    /// `ScheduleRequest`.
    fileprivate static let schedule = Set(send.map { "notification.\($0)" }).union([
        "notification", "sendAt", "localTime", "timeZone", "fallbackTimeZone", "repeat", "except", "expiresAfterSeconds",
    ])
}
