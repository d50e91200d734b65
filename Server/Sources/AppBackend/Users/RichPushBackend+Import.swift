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
    /// The audit gets an entry with the counts of each transaction that did or refused anything, and one of each user whose role
    /// changed or began as another than `user`: all in that transaction. Throws what `lines` throws and what the storage throws:
    /// what was stored before stays.
    public func importUsers<Lines: AsyncSequence>(
        _ lines: Lines, by principal: Principal? = nil, fate: (UserImportFate) throws -> Void
    ) async throws where Lines.Element == UserImportLine {
        var batch = UserImportBatch(principal: principal)
        for try await line in lines {
            batch.add(line)
            // At once: the next line may never come, or be one too many.
            guard batch.lines.count == Self.importBatch else { continue }
            for found in try await store(batch, principal) { try fate(found) }
            batch = UserImportBatch(principal: principal)
        }
        if !batch.lines.isEmpty { for found in try await store(batch, principal) { try fate(found) } }
    }

    private func store(_ batch: UserImportBatch, _ principal: Principal?) async throws -> [UserImportFate] {
        let mark = DeviceChange.newMark()
        let base = entry(.usersImported, by: principal)
        let outcomes = try await parts.store.upsertUsers(
            batch.users, protecting: batch.protected, mark: mark, at: base.at
        ) { batch.entries(of: $0, base) }
        var fates = batch.fates(of: outcomes)
        if fates.contains(where: { $0.fate == .changed }) { forgetCredentials() }
        for (index, outcome) in batch.stored(outcomes) {
            guard case .changed(_, _, let devices) = outcome else { continue }
            do { try await synchronise(devices, mark: mark) } catch {
                fates[index].reason = "tags: they are stored; a device that the hub does not know yet gets them within minutes"
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

    /// The audit of what became of the lines; none when nothing did. `base` is the entry with the counts, without them.
    func entries(of outcomes: [UserUpsertOutcome], _ base: AuditEntry) -> [AuditEntry] {
        var counts: [UserImportFate.Word: Int] = [:]
        for fate in fates(of: outcomes) { counts[fate.fate, default: 0] += 1 }
        guard counts[.unchanged] != lines.count else { return [] }
        let words = UserImportFate.Word.allCases.map { "\($0.rawValue)=\(counts[$0, default: 0])" }
        let summary = base.causing(.usersImported, subject: "", details: words.joined(separator: " "))
        return [summary] + outcomes.enumerated().compactMap { Self.grant($1, base, $0) }
    }

    /// Who got power or lost it stands in the audit by name.
    private static func grant(_ outcome: UserUpsertOutcome, _ base: AuditEntry, _ number: Int) -> AuditEntry? {
        switch outcome {
        case .created(let user) where user.role != .user:
            base.causing(.userCreated, subject: user.name.text, details: "role=\(user.role.rawValue)", number: number)
        case .changed(let old, let user, _) where old.role != user.role:
            base.causing(.userChanged, subject: user.name.text, details: "role=\(user.role.rawValue)", number: number)
        case .created, .changed, .unchanged, .overfull, .protected: nil
        }
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
