import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors

/// What an import says of one user, who is created if there is none. What is absent stays.
public struct UserRow: Sendable, Codable {
    public var name: String
    public var role: UserRole?
    /// They replace those of the user.
    public var tags: [Tag]?

    /// Creates a row.
    public init(name: String, role: UserRole? = nil, tags: [Tag]? = nil) {
        self.name = name
        self.role = role
        self.tags = tags
    }
}

/// A line of an import: its number, from 1, and its row, or why it has none.
public struct UserImportLine: Sendable {
    public var number: Int
    public var row: Result<UserRow, ServiceError>

    /// Creates a line.
    public init(number: Int, row: Result<UserRow, ServiceError>) {
        self.number = number
        self.row = row
    }
}

/// What became of a line of an import.
public struct UserImportFate: Sendable, Hashable, Codable {
    /// The words of the answer.
    public enum Word: String, Sendable, Codable, CaseIterable {
        case created, changed, unchanged, refused
    }

    /// The number of the line.
    public var line: Int
    /// As the line gives it; absent when it has none that can be read.
    public var name: String?
    public var fate: Word
    /// For a refused line the field and what is wrong with it. For any other that the hub does not know the tags of a device yet.
    public var reason: String?
}

/// Creation and change of many users at once, as a backend does it that owns the accounts.
extension RichPushBackend {
    /// How many lines are held and share a transaction.
    static let importBatch = 100

    /// Creates and changes the users of all lines, and hands out what became of each, in their order. A line that is refused keeps no
    /// other from its effect, and the same lines again change nothing.
    ///
    /// The audit gets one entry with the counts, in the transaction of the last lines. Throws what `lines` throws and what the storage
    /// throws: what was stored before stays, and its entry says that the import was cut off.
    public func importUsers<Lines: AsyncSequence>(
        _ lines: Lines, by principal: Principal? = nil, fate: (UserImportFate) throws -> Void
    ) async throws where Lines.Element == UserImportLine {
        var counts = UserImportCounts(entry: entry(.usersImported, by: principal))
        do {
            var batch = UserImportBatch(principal: principal)
            for try await line in lines {
                batch.add(line)
                // At once: the next line may never come, or be one too many.
                guard batch.lines.count == Self.importBatch else { continue }
                for found in try await store(batch, isLast: false, &counts) { try fate(found) }
                batch = UserImportBatch(principal: principal)
            }
            for found in try await store(batch, isLast: true, &counts) { try fate(found) }
        } catch {
            // If the transaction of the last lines has stored the entry after all, this one has the same id and is refused.
            if counts.isWorthNoting { try? await parts.store.record(counts.entry(wasCutOff: true)) }
            throw error
        }
    }

    private func store(
        _ batch: UserImportBatch, isLast: Bool, _ counts: inout UserImportCounts
    ) async throws -> [UserImportFate] {
        let before = counts
        let mark = DeviceChange.newMark()
        let outcomes = try await parts.store.upsertUsers(
            batch.users, protecting: batch.protected, mark: mark, at: parts.clock.now
        ) { outcomes in
            isLast ? before.adding(batch.fates(of: outcomes)).entry(wasCutOff: false) : nil
        }
        var fates = batch.fates(of: outcomes)
        counts = counts.adding(fates)
        if fates.contains(where: { $0.fate == .changed }) { forgetCredentials() }
        for (index, outcome) in batch.stored(outcomes) {
            guard case .changed(_, _, let devices) = outcome else { continue }
            do { try await synchronise(devices, mark: mark) } catch {
                fates[index].reason = "tags: they are stored; a device that the hub could not be told of gets them within minutes"
            }
        }
        return fates
    }
}

/// Lines of an import that share a transaction.
private struct UserImportBatch: Sendable {
    /// What a line asks for, or why it is refused.
    struct Line: Sendable {
        var number: Int
        var name: String?
        var user: Result<UserUpsert, ServiceError>
    }

    private(set) var lines: [Line] = []
    private let principal: Principal?

    init(principal: Principal?) { self.principal = principal }

    mutating func add(_ line: UserImportLine) {
        switch line.row {
        case .success(let row):
            let user = Result { () throws(ServiceError) in try Self.upsert(of: row, principal) }
            lines.append(
                Line(number: line.number, name: String(row.name.unicodeScalars.prefix(64)), user: user)
            )
        case .failure(let error): lines.append(Line(number: line.number, name: nil, user: .failure(error)))
        }
    }

    /// What goes to the storage.
    var users: [UserUpsert] { lines.compactMap { try? $0.user.get() } }

    /// The roles of users whom the caller may not change.
    var protected: Set<UserRole> {
        Set(
            UserRole.allCases.filter { role in
                do { try RichPushBackend.requirePower(over: role, principal) } catch { return true }
                return role == .service
            })
    }

    /// What became of the lines, when the storage did this with their users.
    func fates(of outcomes: [UserUpsertOutcome]) -> [UserImportFate] {
        var fates = lines.map { line in
            var fate = UserImportFate(line: line.number, name: line.name, fate: .refused, reason: nil)
            if case .failure(let error) = line.user { fate.reason = error.detail ?? "the line cannot be read" }
            return fate
        }
        for (index, outcome) in stored(outcomes) {
            switch outcome {
            case .created: fates[index].fate = .created
            case .changed: fates[index].fate = .changed
            case .unchanged: fates[index].fate = .unchanged
            case .overfull: fates[index].reason = BindingLimits.refusesTags.detail
            case .protected(let user):
                fates[index].reason = "name: this user has the role \(user.role.rawValue), which the caller may not change"
            }
        }
        return fates
    }

    /// The lines that went to the storage by their index, with what became of them.
    func stored(_ outcomes: [UserUpsertOutcome]) -> [(index: Int, outcome: UserUpsertOutcome)] {
        let indices = lines.indices.filter { (try? lines[$0].user.get()) != nil }
        return Array(zip(indices, outcomes))
    }

    private static func upsert(of row: UserRow, _ principal: Principal?) throws(ServiceError) -> UserUpsert {
        let name = try RichPushBackend.personName(row.name)
        if let role = row.role {
            do { try RichPushBackend.requirePower(over: try RichPushBackend.personRole(role), principal) } catch {
                throw error.code == .forbidden ? ServiceError(.forbidden, "role: \(error.detail ?? "not allowed")") : error
            }
        }
        var tags: [Tag]?
        if let given = row.tags { tags = try RichPushBackend.checked(given) }
        return UserUpsert(name: name, role: row.role, tags: tags)
    }
}

/// How many lines of an import came to what, and the audit entry that says so.
private struct UserImportCounts: Sendable {
    private let base: AuditEntry
    private var counts: [UserImportFate.Word: Int] = [:]

    init(entry: AuditEntry) { base = entry }

    /// Whether anything was changed.
    var isWorthNoting: Bool { counts[.created, default: 0] + counts[.changed, default: 0] > 0 }

    func adding(_ fates: [UserImportFate]) -> UserImportCounts {
        var sum = self
        for fate in fates { sum.counts[fate.fate, default: 0] += 1 }
        return sum
    }

    func entry(wasCutOff: Bool) -> AuditEntry {
        var entry = base
        let words = UserImportFate.Word.allCases.map { "\($0.rawValue)=\(counts[$0, default: 0])" }
        entry.details = AuditText((words + (wasCutOff ? ["cut-off=true"] : [])).joined(separator: " "))
        return entry
    }
}
