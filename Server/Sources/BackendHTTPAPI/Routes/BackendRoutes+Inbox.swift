import AppBackend
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

extension BackendRoutes {
    func addInboxRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "notifications", to: router) { call in
            let query = try call.query("before", "since", "limit")
            let limit = try query.number("limit", in: 1...100)
            return try .json(
                await backend.inbox(before: query["before"], since: query["since"], limit: limit, for: call.principal))
        }
        add(.get, "notifications/{id}/details", to: router) { call in
            _ = try call.query()
            return try .json(await backend.details(of: call.richID(), for: call.principal))
        }
        add(.patch, "notifications/{id}", to: router) { call in
            _ = try call.query()
            let id = try call.richID()
            let state = try await call.request.readJSON(ReadState.self, known: FieldNames.readState, limits: options.json)
            try await backend.setRead(state.read, of: id, for: call.principal)
            return Response(status: .noContent)
        }
        add(.post, "notifications/{id}/replies", to: router) { call in
            _ = try call.query()
            let id = try call.richID()
            let reply = try await call.request.readJSON(Reply.self, known: FieldNames.reply, limits: options.json)
            try await backend.reply(reply, to: id, for: call.principal)
            return Response(status: .noContent)
        }
        add(.post, "receipts", to: router) { call in
            _ = try call.query()
            let batch = try await call.request.readJSON(ReceiptBatch.self, known: FieldNames.receipts, limits: options.json)
            try await backend.record(batch, for: call.principal)
            return Response(status: .noContent)
        }
    }
}
