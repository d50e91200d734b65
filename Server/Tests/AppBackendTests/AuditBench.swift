import AppBackend
import AuditTrail
import Logging
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import SharedAccess
import Testing

/// An act of the closed list, with what its one entry says. It runs as the administrator `root`, beside the users `ann`, who has a phone,
/// and `bob`, and the key `shop`.
struct AuditedAct: Sendable, CustomTestStringConvertible {
    var action: AuditAction
    var subject: String?
    var details: String?
    var run: @Sendable (AuditBench) async throws -> Void

    init(
        _ action: AuditAction, _ subject: String? = nil, _ details: String? = nil,
        _ run: @escaping @Sendable (AuditBench) async throws -> Void
    ) {
        (self.action, self.subject, self.details, self.run) = (action, subject, details, run)
    }

    var testDescription: String { "\(action.rawValue) \(details ?? "")" }

    static let all: [AuditedAct] = [
        AuditedAct(.userCreated, "zoe", "role=sender") {
            try await $0.backend.addUser(name: "zoe", password: AuditBench.secret, role: .sender, by: $0.root)
        },
        AuditedAct(.userChanged, "bob", "role=admin") { try await $0.backend.setRole(.admin, ofUser: "bob", by: $0.root) },
        AuditedAct(.userChanged, "bob", "password=changed") {
            try await $0.backend.setPassword(AuditBench.secret, ofUser: "bob", by: $0.root)
        },
        AuditedAct(.userChanged, "ann", "tags=team:red,gold") {
            try await $0.backend.setTags(["team:red", "gold"].compactMap(Tag.init), ofUser: "ann", by: $0.root)
        },
        AuditedAct(.userChanged, "ann", "sessions=ended") { try await $0.backend.endSessions(ofUser: "ann", by: $0.root) },
        AuditedAct(.userChanged, "ann", "disabled=true") { try await $0.backend.setDisabled(true, ofUser: "ann", by: $0.root) },
        AuditedAct(.userChanged, "ann", "disabled=false") { try await $0.backend.setDisabled(false, ofUser: "ann", by: $0.root) },
        AuditedAct(.userRemoved, "ann") { try await $0.backend.removeUser(name: "ann", by: $0.root) },
        AuditedAct(.userExported, "ann") {
            try await $0.backend.exportUser(name: "ann", by: $0.root, line: { _ in }, content: { _, _, _ in })
        },
        AuditedAct(.userErased) { try await $0.backend.eraseUser(name: "ann", by: $0.root) },
        AuditedAct(.usersImported, nil, "created=1 changed=0 unchanged=0 refused=0") { bench in
            let lines = AsyncStream<UserImportLine> { stream in
                stream.yield(UserImportLine(number: 1, row: .success(UserRow(name: "zoe"))))
                stream.finish()
            }
            try await bench.backend.importUsers(lines, by: bench.root) { _ in }
        },
        AuditedAct(.hubCreated) { _ = try await $0.backend.createHub(HubCreation(name: "news"), by: $0.root) },
        AuditedAct(.keyCreated, "news", "scopes=send:news:,status") {
            _ = try await $0.test.key("news", "send:news:", "status", by: $0.root)
        },
        AuditedAct(.keyRolled, "shop", "replaces=1") {
            _ = try await $0.backend.rollKey($0.key.id, overlap: .zero, by: $0.root)
        },
        AuditedAct(.keyRevoked, "shop") { try await $0.backend.revokeKey($0.key.id, by: $0.root) },
        AuditedAct(.sendAccepted, nil, "kind=text audience=beta") {
            _ = try await $0.test.send($0.root, to: "beta") { $0.message = AuditBench.secret }
        },
        AuditedAct(.sendRecalled) { try await $0.backend.recall($0.send, for: $0.root) },
        AuditedAct(.signedIn, "root", "installation=root-phone") {
            _ = try await $0.test.install($0.root, "root-phone", handle: 9)
        },
    ]
}

/// A backend with users, a device, a key and a send, and the audit up to there.
struct AuditBench: Sendable {
    /// A password, and the text of messages: no entry may have it.
    static let secret = "a word that stays unsaid"

    let test: TestBackend
    let root: Principal
    let ann: Principal
    let phone: (principal: Principal, credential: String)
    let key: ServiceKeyAnswer
    let send: RichID
    /// The number of the last entry before the act.
    let last: Int64

    var backend: RichPushBackend { test.backend }

    init() async throws {
        test = try await TestBackend()
        root = try await test.user("root", .admin)
        ann = try await test.user("ann", .user)
        _ = try await test.user("bob")
        phone = try await test.install(ann, "phone", handle: 1)
        key = try await test.key("shop", "send")
        send = try await test.send(try await test.signIn(with: key), to: "username:ann") {
            ($0.title, $0.message) = (Self.secret, Self.secret)
        }
        last = try await test.audit().last?.number ?? 0
    }

    /// The entries since then.
    func entries() async throws -> [AuditAnswer] { try await test.audit(after: last) }

    /// What the columns of the audit that hold text say, all in one.
    func columns() async throws -> String {
        try await test.database.read { connection in
            let statement = SQLStatement(
                composed: "SELECT actor, actor_name, subject, subject_name, object, details, actor_kind FROM audit_entries")
            return try connection.rows(statement, []).map { row in
                try (0..<7).map { try row.optionalText($0) ?? "" }.joined(separator: "|")
            }.joined(separator: "\n")
        }
    }

    /// Changes the database, as a person who has it can.
    func change(_ statement: String) async throws {
        _ = try await test.database.write { try $0.run(SQLStatement(composed: statement), []) }
    }

    static func signingKey() throws -> AuditSigningKey { try AuditSigningKey(seed: Array(repeating: 7, count: 32)) }

    func keeper(retention: Duration = .seconds(86_400)) throws -> AuditKeeper {
        try Self.keeper(of: test, retention: retention)
    }

    static func keeper(of test: TestBackend, retention: Duration) throws -> AuditKeeper {
        AuditKeeper(
            store: test.store, key: try Self.signingKey(), retention: retention, clock: test.clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func report() async throws -> AuditReport { try await backend.audit.verify(with: try Self.signingKey().publicKey) }
}
