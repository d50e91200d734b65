import PushHub

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
