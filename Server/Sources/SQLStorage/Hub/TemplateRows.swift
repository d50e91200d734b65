import Crypto
import PushHub

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Templates, each content once for a hub. The row goes with the last record that refers to it.
enum TemplateRows {
    /// Headers keep their order, so they are part of the content as they stand.
    static func id(of template: DeviceTemplate) -> TemplateID {
        let headers = template.headers.flatMap { [$0.name, $0.value] }
        return TemplateID(
            ContentHash.number(of: [template.name, template.body, template.expiry, template.priority] + headers))
    }

    /// Stores the content unless it is there.
    static func put(_ template: DeviceTemplate, in hub: HubID, _ connection: any SQLConnection) throws -> TemplateID {
        let id = id(of: template)
        let headers = try TextMap.text(pairs: template.headers.map { [$0.name, $0.value] })
        try connection.run(
            insert,
            [
                .integer(hub.number), .integer(id.number), .optional(template.name), .text(template.body), .text(headers),
                .optional(template.expiry), .optional(template.priority),
            ])
        return id
    }

    static func find(_ id: TemplateID, in hub: HubID, _ connection: any SQLConnection) throws -> DeviceTemplate? {
        try connection.row(select, [.integer(hub.number), .integer(id.number)]).map(template)
    }

    private static func template(_ row: SQLRow) throws -> DeviceTemplate {
        DeviceTemplate(
            name: try row.optionalText(0), body: try row.text(1),
            headers: try TextMap.pairs(try row.text(2)).map { .init(name: $0[0], value: $0[1]) },
            expiry: try row.optionalText(3), priority: try row.optionalText(4))
    }

    /// The contents of several templates, but for those that have gone.
    static func contents(
        of ids: Set<TemplateID>, in hub: HubID, _ connection: any SQLConnection
    ) throws -> [TemplateID: DeviceTemplate] {
        var contents: [TemplateID: DeviceTemplate] = [:]
        var left = ids.map { SQLValue.integer($0.number) }[...]
        while let last = left.last {
            // A list is filled up with its last id, so that there are few statements.
            let statement = selectSeveral.first { $0.count >= left.count } ?? selectSeveral[selectSeveral.count - 1]
            let part = left.prefix(statement.count)
            left = left.dropFirst(part.count)
            let values = part + Array(repeating: last, count: statement.count - part.count)
            for row in try connection.rows(statement.text, [.integer(hub.number)] + values) {
                contents[TemplateID(try row.integer(5))] = try template(row)
            }
        }
        return contents
    }

    /// The records with their templates, each content read once.
    static func filled(_ rows: [DeviceRow], in hub: HubID, _ connection: any SQLConnection) throws -> [DeviceRecord] {
        var reading = TemplateReading(hub, connection)
        return try rows.map { try reading.filled($0) }
    }

    /// Removes the content if no record refers to it any more.
    static func release(_ id: TemplateID, in hub: HubID, _ connection: any SQLConnection) throws {
        try connection.run(deleteUnused, [.integer(hub.number), .integer(id.number)])
    }

    static let all = [insert, select, deleteUnused] + selectSeveral.map(\.text)

    private static let insert = SQLStatement(
        """
        INSERT INTO device_templates (hub_id, template_id, name, body, headers, expiry, priority)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (hub_id, template_id) DO NOTHING
        """)
    private static let columns = "name, body, headers, expiry, priority"
    private static let select = SQLStatement(
        composed: "SELECT \(columns) FROM device_templates WHERE hub_id = $1 AND template_id = $2")
    private static let selectSeveral = [1, 8, 64].map { count in
        let ids = (2..<count + 2).map { "$\($0)" }.joined(separator: ", ")
        return (
            count: count,
            text: SQLStatement(
                composed: "SELECT \(columns), template_id FROM device_templates WHERE hub_id = $1 AND template_id IN (\(ids))")
        )
    }
    private static let deleteUnused = SQLStatement(
        """
        DELETE FROM device_templates WHERE hub_id = $1 AND template_id = $2
            AND NOT EXISTS (SELECT 1 FROM devices d WHERE +d.hub_id = $1 AND d.template_id = $2)
        """)
}

/// Fills records with their templates, reading each content once.
struct TemplateReading {
    private let hub: HubID
    private let connection: any SQLConnection
    private var known: [TemplateID: DeviceTemplate] = [:]

    init(_ hub: HubID, _ connection: any SQLConnection) {
        self.hub = hub
        self.connection = connection
    }

    mutating func filled(_ row: DeviceRow) throws -> DeviceRecord {
        var record = row.record
        guard let id = row.templateID else { return record }
        if known[id] == nil { known[id] = try TemplateRows.find(id, in: hub, connection) }
        record.template = known[id]
        return record
    }
}

/// Words by name, or a list of pairs, as one column.
enum TextMap {
    /// `nil` for an empty one.
    static func text(_ map: [String: String]) throws -> String? {
        guard !map.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(map), as: UTF8.self)
    }

    static func read(_ text: String?) throws -> [String: String] {
        guard let text else { return [:] }
        guard let map = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else {
            throw SQLFault.refused(code: 0, reason: "a column does not hold what was stored")
        }
        return map
    }

    static func text(pairs: [[String]]) throws -> String { String(decoding: try JSONEncoder().encode(pairs), as: UTF8.self) }

    static func pairs(_ text: String) throws -> [[String]] {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)),
            pairs.allSatisfy({ $0.count == 2 })
        else { throw SQLFault.refused(code: 0, reason: "a column does not hold what was stored") }
        return pairs
    }
}

/// A number that identifies a content: equal contents have equal numbers, and a collision is not expected.
enum ContentHash {
    /// The first 64 bits of the SHA-256 of the parts, each with its length, so that no two lists read the same.
    static func number(of parts: [String?]) -> Int64 {
        var hash = SHA256()
        for part in parts {
            let bytes = part.map { Array($0.utf8) }
            hash.update(data: Array("\(bytes?.count ?? -1):".utf8))
            hash.update(data: bytes ?? [])
        }
        return Int64(bitPattern: hash.finalize().prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
