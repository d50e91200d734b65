import RichPushModel

/// What became of some devices of a send that asked for it. All reports of a send together name each of its devices once.
public struct OutcomeReport: Hashable, Sendable {
    /// Devices that ended alike.
    public struct Group: Hashable, Sendable {
        public var outcome: TargetOutcome
        /// The reason from the push service or the transport, if there was one.
        public var reason: String?
        public var devices: [RecordID]

        public init(outcome: TargetOutcome, reason: String? = nil, devices: [RecordID]) {
            self.outcome = outcome
            self.reason = reason
            self.devices = devices
        }
    }

    /// The most devices of one report.
    public static let limit = 500

    /// Grows from report to report.
    public var number: Int64
    public var notedAt: Timestamp
    public var groups: [Group]

    public init(number: Int64, notedAt: Timestamp, groups: [Group]) {
        self.number = number
        self.notedAt = notedAt
        self.groups = groups
    }
}

extension OutcomeReport {
    /// Cuts what became of devices into pieces of a report each.
    public static func pieces(of groups: [Group]) -> [[Group]] {
        var (pieces, room): ([[Group]], Int) = ([], 0)
        for group in groups {
            var rest = group.devices[...]
            while !rest.isEmpty {
                if room == 0 {
                    pieces.append([])
                    room = limit
                }
                let part = rest.prefix(room)
                pieces[pieces.count - 1].append(Group(outcome: group.outcome, reason: group.reason, devices: Array(part)))
                rest = rest.dropFirst(part.count)
                room -= part.count
            }
        }
        return pieces
    }

    /// The form in which groups are stored: a line for each, of outcome, reason and devices, with tabs in between.
    public static func stored(_ groups: [Group]) -> String {
        groups.map { group in
            let reason = String((group.reason ?? "").map { $0.isNewline || $0 == "\t" ? " " : $0 })
            return ([group.outcome.rawValue, reason] + group.devices.map(\.text)).joined(separator: "\t")
        }.joined(separator: "\n")
    }

    /// Reads the stored form; `nil` for any other text.
    public static func groups(stored text: String) -> [Group]? {
        var groups: [Group] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let devices = fields.dropFirst(2).compactMap { RecordID($0) }
            guard fields.count > 2, devices.count == fields.count - 2, let outcome = TargetOutcome(rawValue: fields[0]) else {
                return nil
            }
            groups.append(Group(outcome: outcome, reason: fields[1].isEmpty ? nil : fields[1], devices: devices))
        }
        return groups
    }
}
