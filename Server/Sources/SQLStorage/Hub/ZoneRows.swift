import PushHub
import RichPushModel

/// The time zones of devices, and when sends by local time are due in them.
enum ZoneRows {
    /// The zones of all devices of a hub, by one search of the index for each zone, and that of devices without one.
    static func all(in hub: HubID, _ connection: any SQLConnection) throws -> Set<String> {
        let values: [SQLValue] = [
            .integer(hub.number), .text(DeviceZone.indexPrefix), .text(DeviceZone.indexPrefix + "~"),
        ]
        let entries = try connection.rows(selectAll, values).map { try $0.text(0) }
        return Set(entries.map(DeviceZone.name(ofIndexEntry:))).union([ZoneMoments.otherZones])
    }

    /// The zones of the devices that have one of the tags, those before a change among them.
    static func zones(ofTags tags: [String], in hub: HubID, _ connection: any SQLConnection) throws -> Set<String> {
        var zones: Set<String> = []
        for tag in tags {
            try connection.forEachRow(selectOfTag, [.integer(hub.number), .text(tag)]) { row in
                zones.insert(try row.text(0))
                if let former = try row.optionalText(1) { zones.insert(former) }
            }
        }
        return zones
    }

    static func insert(_ send: AcceptedSend, _ connection: any SQLConnection) throws {
        for wave in send.waves {
            for zone in wave.zones {
                try connection.run(
                    insert,
                    [.integer(send.hub.number), .text(send.id.text), .text(zone), .integer(wave.moment.milliseconds)])
            }
        }
    }

    /// The zones of a send, by their moments.
    static func waves(_ send: [SQLValue], _ connection: any SQLConnection) throws -> [WaveProgress] {
        var waves: [WaveProgress] = []
        try connection.forEachRow(selectWaves, send) { row in
            let (moment, zone) = (Timestamp(milliseconds: try row.integer(0)), try row.text(1))
            if waves.last?.moment == moment {
                waves[waves.count - 1].zones.append(zone)
            } else {
                waves.append(WaveProgress(moment: moment, zones: [zone], isOver: try row.integer(2) == 0))
            }
        }
        return waves
    }

    static let all = [selectAll, selectOfTag, selectWaves, insert, delete]

    private static let selectWaves = SQLStatement(
        """
        SELECT z.moment, z.time_zone, (SELECT COUNT(*) FROM slices s
            WHERE s.hub_id = z.hub_id AND s.notification_id = z.notification_id AND s.moment = z.moment)
        FROM notification_zones z WHERE z.hub_id = $1 AND z.notification_id = $2 ORDER BY z.moment, z.hub_id, z.notification_id, z.time_zone
        """)

    static let delete = SQLStatement("DELETE FROM notification_zones WHERE hub_id = $1 AND notification_id = $2")
    private static let insert = SQLStatement(
        "INSERT INTO notification_zones (hub_id, notification_id, time_zone, moment) VALUES ($1, $2, $3, $4)")
    private static let selectAll = SQLStatement(
        """
        WITH RECURSIVE zones (tag) AS (
            SELECT MIN(tag) FROM device_tags WHERE hub_id = $1 AND tag >= $2 AND tag < $3
            UNION ALL
            SELECT (SELECT MIN(t.tag) FROM device_tags t WHERE t.hub_id = $1 AND t.tag > zones.tag AND t.tag < $3)
            FROM zones WHERE zones.tag IS NOT NULL)
        SELECT tag FROM zones WHERE tag IS NOT NULL
        """)
    private static let selectOfTag = SQLStatement(
        """
        SELECT DISTINCT d.time_zone, d.former_zone FROM device_tags t CROSS JOIN devices d
        WHERE t.hub_id = $1 AND t.tag = $2 AND d.hub_id = $1 AND d.slice_key = t.slice_key
        """)
}
