import AppBackend
import AuditTrail
import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BackendRoutes {
    func addOperatorRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "settings", for: .readSettings, to: router) { call in
            _ = try call.query()
            return try .json(backend.nodeSettings())
        }
        add(.get, "workload", for: .readSettings, to: router) { call in
            _ = try call.query()
            return try .json(await backend.workload())
        }
        add(.get, "audit", for: .readAudit, to: router) { call in
            let query = try call.query("action", "actor", "subject", "from", "until", "before", "limit")
            let before = try query.number("before", in: 1...Int.max).map(Int64.init)
            let limit = try query.number("limit", in: 1...AuditReader.pageLimit)
            let filter = try AuditFilter(query)
            let wantsLines = call.request.headers[.accept]?.contains(UserImportLines.mediaType) == true
            let bound = limit ?? (wantsLines ? nil : 100)
            try await backend.noteAuditReading(filter, limit: bound, by: call.principal)
            if wantsLines { return try await lines(filter, before: before, limit: bound ?? .max) }
            return try .json(await backend.audit.page(filter, before: before, limit: bound ?? 100))
        }
    }

    /// All entries as lines of JSON, page by page. What is wrong before the first line is an error answer; later the body is cut off.
    private func lines(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> Response {
        let first = try await backend.audit.page(filter, before: before, limit: min(limit, AuditReader.pageLimit))
        return Response(
            status: .ok, headers: [.contentType: UserImportLines.mediaType, .cacheControl: "no-store"],
            body: ResponseBody { [audit = backend.audit] writer in
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                var (page, left) = (first, limit)
                while true {
                    var lines = ByteBuffer()
                    for entry in page.entries {
                        lines.writeBytes(try encoder.encode(entry))
                        lines.writeInteger(UInt8(ascii: "\n"))
                    }
                    if lines.readableBytes > 0 { try await writer.write(lines) }
                    left -= page.entries.count
                    guard let next = page.next, left > 0 else { break }
                    page = try await audit.page(filter, before: next, limit: min(left, AuditReader.pageLimit))
                }
                try await writer.finish(nil)
            })
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
