import PushHub
import RichPushModel
import TagExpressions

/// Reads the next matching targets of a slice, in order of key.
///
/// The engine leaves out what the send cannot mean, and of the rest only those columns are read that sending needs. Tags are
/// read and compared only where the index does not answer for the whole expression.
struct AudienceWalk {
    /// What the walk has to know of a send.
    struct Send {
        var hub: HubID
        var audience: TagExpression?
        var format: SendFormat
        var mark: OrderNumber
        var now: Timestamp

        var filter: AudienceFilter { AudienceFilter(audience: audience, format: format, mark: mark, now: now) }
    }

    private let send: Send
    private let plan: TagExpression.Plan
    /// What the tags of a record have to match; absent where the index has answered that.
    private let rest: TagExpression?
    private let connection: any SQLConnection

    init(_ send: Send, _ connection: any SQLConnection) throws {
        self.send = send
        self.connection = connection
        let plan = try AudienceIndex.plan(send.audience, send.hub, connection)
        self.plan = plan
        rest = send.audience.flatMap { $0.isAnswered(by: plan) ? nil : $0 }
        platform = if case .native(let platform) = send.format { platform } else { nil }
    }

    /// What records that may be twins have in common.
    private struct SharedHandle: Hashable {
        var platform: Platform
        var handle: String
        var form: Int64
    }

    /// The shared handles that this walk has met in records that the send means, so that many records of one handle cost one look
    /// for those before them. A walk is one page, which bounds it.
    private final class Met {
        var handles: Set<SharedHandle> = []
    }

    private let met = Met()

    /// Rows read at once.
    private static let chunk = 1_000

    /// What was read of the index.
    private struct Chunk {
        /// Rows read.
        var count = 0
        /// Up to where the index was read; `nil` when there is nothing more in it.
        var through: SliceKey?
    }

    /// At most `limit` candidates after `cursor`, for which at most about `scanLimit` records are looked at.
    func next(after cursor: SliceKey, last: SliceKey, limit: Int, scanLimit: Int) throws -> SlicePage.Walk {
        var candidates = CandidateReading(capacity: min(limit, Self.chunk), platform: platform ?? .apns)
        var through = cursor
        var scanned = 0
        while scanned < scanLimit, candidates.count < limit {
            let chunk = try chunk(after: through, last: last, upTo: limit, into: &candidates)
            guard let end = chunk.through else {
                through = last
                break
            }
            through = end
            scanned += max(chunk.count, 1)
        }
        return SlicePage.Walk(candidates: candidates.finished(), through: through)
    }

    /// Reads on until there are `limit` candidates.
    private func chunk(
        after key: SliceKey, last: SliceKey, upTo limit: Int, into candidates: inout CandidateReading
    ) throws -> Chunk {
        // With something left to compare, many rows may be read for few that match.
        let size = rest == nil ? min(limit - candidates.count, Self.chunk) : Self.chunk
        let range: [SQLValue] = [.integer(send.hub.number), .integer(key.number), .integer(last.number)]
        switch plan {
        case .scan:
            let values = range + state + [.integer(Int64(size))]
            return try chunk(of: size, upTo: limit, statements(.scan), values, into: &candidates)
        case .tags(let tags) where tags.count == 1:
            let values = range + state + [.integer(Int64(size)), .text(tags.first?.folded ?? "")]
            return try chunk(of: size, upTo: limit, statements(.tag), values, into: &candidates)
        case .tags(let tags):
            return try chunk(of: size, upTo: limit, keys: keys(tags, range + [.integer(Int64(size))]), into: &candidates)
        }
    }

    private func chunk(
        of size: Int, upTo limit: Int, _ statement: SQLStatement, _ values: [SQLValue], into candidates: inout CandidateReading
    ) throws -> Chunk {
        var chunk = Chunk()
        var isCut = false
        try connection.forEachRow(statement, values) { row in
            guard !isCut else { return }
            chunk.through = try take(row, into: &candidates)
            chunk.count += 1
            isCut = candidates.count == limit
        }
        if chunk.count < size, !isCut { chunk.through = nil }
        return chunk
    }

    /// Reads records one by one; an entry whose record is gone or is not meant is passed.
    private func chunk(
        of size: Int, upTo limit: Int, keys: ArraySlice<Int64>, into candidates: inout CandidateReading
    ) throws -> Chunk {
        var chunk = Chunk()
        let statement = statements(.one)
        for key in keys {
            try connection.forEachRow(statement, [.integer(send.hub.number), .integer(key)] + state) { row in
                _ = try take(row, into: &candidates)
            }
            chunk.count += 1
            chunk.through = SliceKey(key)
            if candidates.count == limit { return chunk }
        }
        if keys.count < size { chunk.through = nil }
        return chunk
    }

    /// The lowest keys of all the tags together: each tag gives its lowest, and the lowest of those are the lowest of all.
    private func keys(_ tags: Set<Tag>, _ range: [SQLValue]) throws -> ArraySlice<Int64> {
        var keys: Set<Int64> = []
        for tag in tags {
            try connection.forEachRow(Self.keysOfTag, range + [.text(tag.folded)]) { keys.insert(try $0.integer(0)) }
        }
        guard case .integer(let size)? = range.last else { return [] }
        return keys.sorted().prefix(Int(size))
    }

    /// Takes a row of the statements as a candidate, if what is left to compare says so; returns its key.
    private func take(_ row: any SQLColumns, into candidates: inout CandidateReading) throws -> SliceKey {
        let numbers = try row.integers(from: AudienceStatements.Column.numbers)
        let key = SliceKey(numbers[0])
        if let rest, try !rest.matches(AudienceStatements.matchingTags(row, kind(.scan))) { return key }
        let isTwin = try numbers[3] == 1 && isTwin(row, key)
        let start = candidates.bytes.count
        let ends = try row.appendTexts(from: AudienceStatements.Column.texts, to: &candidates.bytes)
        let isTemplate = send.format == .template
        let template = isTemplate ? try row.optionalInteger(AudienceStatements.Column.template) : nil
        candidates.append(
            CandidateReading.Numbers(
                key: key, registeredAt: Timestamp(milliseconds: numbers[1]), version: numbers[2],
                template: template.map(TemplateID.init), isSkipped: isTwin),
            of: isTemplate ? Platform(rawValue: try row.text(AudienceStatements.Column.platform)) : nil, textsFrom: start,
            to: ends)
        return key
    }

    /// Whether another record that the send means has the same handle and form, and a lower key.
    private func isTwin(_ row: any SQLColumns, _ key: SliceKey) throws -> Bool {
        let handle = SharedHandle(
            platform: try platform ?? Platform(rawValue: row.text(AudienceStatements.Column.platform)),
            handle: try row.text(AudienceStatements.Column.handle),
            form: platform == nil ? try row.integer(AudienceStatements.Column.form) : 0)
        // The walk goes up: one of them it has met already.
        guard met.handles.insert(handle).inserted else { return true }
        // In pieces, and not for ever: whoever made more records of one handle than that gets a push too many.
        let piece = send.audience == nil ? 1 : Self.twinPiece
        var cursor = SliceKey.beforeAll
        for _ in 0..<Self.twinPieces {
            let values: [SQLValue] = [
                .integer(send.hub.number), .text(handle.platform.rawValue), .text(handle.handle), .integer(handle.form),
                .integer(key.number), .integer(send.mark.number), .integer(send.now.milliseconds),
                .integer(cursor.number), .integer(Int64(piece)),
            ]
            var isFound = false
            var count = 0
            try connection.forEachRow(Self.selectTwins, values) { row in
                count += 1
                guard !isFound else { return }
                let record = try DeviceRow(row).record
                cursor = record.sliceKey
                isFound = send.audience?.matches(record.matchingTags) ?? true
            }
            if isFound { return true }
            if count < piece { return false }
        }
        return false
    }

    /// How many records of one handle are read at a time, and how many times, in the search for one that the send means.
    private static let twinPiece = 500
    private static let twinPieces = 20

    /// The platform of every record of a native send.
    private let platform: Platform?

    /// `$4` and on of every statement: what a record has to be to be meant.
    private var state: [SQLValue] {
        let moment: [SQLValue] = [.integer(send.mark.number), .integer(send.now.milliseconds)]
        switch send.format {
        case .native(let platform): return moment + [.text(platform.rawValue)]
        case .template: return moment + [.text("")]
        }
    }

    private func statements(_ access: AudienceStatements.Access) -> SQLStatement {
        AudienceStatements.statement(kind(access))
    }

    private func kind(_ access: AudienceStatements.Access) -> AudienceStatements.Kind {
        .init(access: access, isTemplate: send.format == .template, hasRest: rest != nil)
    }

    static let all = AudienceStatements.all + [keysOfTag, selectTwins]

    private static let keysOfTag = SQLStatement(
        """
        SELECT slice_key FROM device_tags WHERE hub_id = $1 AND tag = $5 AND slice_key > $2 AND slice_key <= $3
        ORDER BY slice_key LIMIT $4
        """)
    /// Those before the record itself that have its handle and form and that the send may mean.
    private static let selectTwins = SQLStatement(
        composed: """
            SELECT \(DeviceRow.columns) FROM devices
            WHERE +hub_id = $1 AND platform = $2 AND handle = $3 AND form = $4 AND slice_key < $5
                AND slice_key > $8 AND parked_at IS NULL AND order_number <= $6 AND (expires_at IS NULL OR expires_at > $7)
            ORDER BY slice_key LIMIT $9
            """)
}

extension TagExpression {
    /// Whether the entries of the plan are exactly what the expression means: it is one tag, or tags joined by `||`.
    fileprivate func isAnswered(by plan: Plan) -> Bool {
        if case .tags(let tags) = plan { hasOnlyAlternatives && tags == Set(self.tags) } else { false }
    }

    private var hasOnlyAlternatives: Bool {
        switch self {
        case .tag: true
        case .or(let left, let right): left.hasOnlyAlternatives && right.hasOnlyAlternatives
        case .not, .and: false
        }
    }
}
