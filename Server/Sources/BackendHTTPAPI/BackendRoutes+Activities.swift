import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceErrors

/// Live Activities, and what devices report of them.
extension BackendRoutes {
    func addActivityRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "activities", for: .send, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(ActivityRequest.self, known: FieldNames.activity, limits: options.json)
            let answer = try await backend.startActivity(request, idempotencyKey: call.idempotencyKey(), for: call.principal)
            var response = try Response.json(answer, status: .created)
            response.headers[.location] = APIRoute.activity(answer.id)
            return response
        }
        add(.get, "activities", for: .readSends, to: router) { call in
            let query = try call.query("sender", "before", "limit")
            let limit = try query.number("limit", in: 1...RichPushBackend.activityPageLimit)
            return try .json(
                await backend.activities(
                    sender: query["sender"], before: query["before"], limit: limit, for: call.principal))
        }
        add(.get, "activities/{id}", for: .readSends, to: router) { call in
            _ = try call.query()
            return try .json(await backend.activity(call.objectID(), for: call.principal))
        }
        add(.patch, "activities/{id}", for: .send, to: router) { call in
            _ = try call.query()
            let id = try call.objectID()
            let change = try await call.request.readJSON(
                ActivityChange.self, known: FieldNames.activityChange, limits: options.json)
            return try .json(await backend.changeActivity(id, change, idempotencyKey: call.idempotencyKey(), for: call.principal))
        }
        add(.delete, "activities/{id}", for: .recall, to: router) { call in
            _ = try call.query()
            try await backend.endActivity(call.objectID(), for: call.principal)
            return Response(status: .noContent)
        }
        add(.put, "installations/{id}/activities", for: .reportActivities, to: router) { call in
            _ = try call.query()
            let id = try call.installationID()
            let report = try await call.request.readJSON(
                ActivityReport.self, known: FieldNames.activityReport, limits: options.json)
            return try .json(await backend.reportActivities(report, of: id, for: call.principal))
        }
    }

    func addReloadRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "reloads", for: .send, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(ReloadRequest.self, known: ["what", "audience"], limits: options.json)
            return try .json(await backend.reload(request, for: call.principal), status: .accepted)
        }
    }

    func addChannelRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.post, "channels", for: .send, to: router) { call in
            _ = try call.query()
            let request = try await call.request.readJSON(ChannelRequest.self, known: ["name", "storage"], limits: options.json)
            let answer = try await backend.createChannel(request, for: call.principal)
            var response = try Response.json(answer, status: .created)
            response.headers[.location] = APIRoute.channel(answer.id)
            return response
        }
        add(.get, "channels", for: .readSends, to: router) { call in
            let query = try call.query("before", "limit")
            let limit = try query.number("limit", in: 1...RichPushBackend.channelPageLimit)
            return try .json(await backend.channels(before: query["before"], limit: limit, for: call.principal))
        }
        add(.get, "channels/others", for: .manageForeignChannels, to: router) { call in
            _ = try call.query()
            return try .json(await backend.otherChannels(for: call.principal))
        }
        add(.delete, "channels/others", for: .manageForeignChannels, to: router) { call in
            guard let channel = try call.query("apnsChannel")["apnsChannel"] else {
                throw ServiceError(.invalidField, "apnsChannel: it must name a channel")
            }
            try await backend.removeOtherChannel(channel, for: call.principal)
            return Response(status: .noContent)
        }
        add(.get, "channels/{id}", for: .readSends, to: router) { call in
            _ = try call.query()
            return try .json(await backend.channel(call.objectID(), for: call.principal))
        }
        add(.delete, "channels/{id}", for: .recall, to: router) { call in
            _ = try call.query()
            try await backend.removeChannel(call.objectID(), for: call.principal)
            return Response(status: .noContent)
        }
    }
}

extension FieldNames {
    private static let alert: Set<String> = ["alert", "alert.title", "alert.body", "alert.sound"]
    /// `ActivityRequest`; what is in attributes and state is the app's own.
    fileprivate static let activity = alert.union([
        "attributesType", "attributes", "attributes.**", "state", "state.**", "audience", "staleAt", "relevance", "start",
        "delivery", "channel",
    ])
    /// `ActivityChange`.
    fileprivate static let activityChange = alert.union([
        "state", "state.**", "staleAt", "relevance", "priority", "end", "dismissAt",
    ])
    /// `ActivityReport`.
    fileprivate static let activityReport: Set<String> = [
        "startTokens", "startTokens.*", "activities", "activities.id", "activities.state", "activities.token",
        "activities.revision", "widgetToken", "controlTokens", "controlTokens.*", "enabled", "frequentUpdates",
        "systemVersion",
    ]
}
