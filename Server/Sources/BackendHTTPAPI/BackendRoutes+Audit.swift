import AppBackend
import AuditTrail
import HTTPService
import Hummingbird
import RichPushModel
import ServiceErrors

extension BackendRoutes {
    func addAuditRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "audit", for: .readAudit, to: router) { call in
            let query = try call.query("action", "actor", "subject", "from", "until", "before", "limit")
            let before = try query.number("before", in: 1...Int.max).map(Int64.init)
            let limit = try query.number("limit", in: 1...AuditReader.pageLimit) ?? 100
            let filter = try AuditFilter(query)
            try await backend.noteAuditReading(filter, limit: limit, by: call.principal)
            return try .json(await backend.audit.page(filter, before: before, limit: limit))
        }
    }
}

extension AuditFilter {
    /// Throws `invalid-field` for an action that is not of the list.
    fileprivate init(_ query: QueryParameters) throws {
        self.init()
        if let text = query["action"] {
            guard let action = AuditAction(rawValue: text) else {
                let known = AuditAction.allCases.map(\.rawValue).joined(separator: ", ")
                throw ServiceError(.invalidField, "action: one of \(known)")
            }
            self.action = action
        }
        (actor, subject) = (query["actor"], query["subject"])
        (from, until) = (try query.moment("from"), try query.moment("until"))
    }
}
