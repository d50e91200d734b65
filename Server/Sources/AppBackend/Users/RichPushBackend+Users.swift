import AuditTrail
import CalendarTime
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Management of users. The command line and the HTTP layer call these; the latter only for a principal who may, whom the audit names.
/// Without a principal it was a command on the machine of a node.
extension RichPushBackend {
    /// Creates a user; without a password one who signs in with tokens. Throws `invalid-field` for a bad name or a password that
    /// `PasswordRule` refuses, `conflict` for a taken name.
    @discardableResult
    public func addUser(
        name: String, password: String?, role: UserRole, tags: [Tag] = [], by principal: Principal? = nil
    ) async throws -> User {
        let userName = try Self.personName(name)
        try Self.requirePower(over: role, principal)
        let hash = if let password { try await hash(password, of: userName) } else { PasswordHash?.none }
        let entry = entry(.userCreated, by: principal, subject: name, details: "role=\(role.rawValue)")
        do {
            return try await parts.store.createUser(
                NewUser(name: userName, role: try Self.personRole(role), password: hash, tags: try Self.checked(tags)),
                at: entry.at, audit: entry)
        } catch let error as ServiceError where error.code == .conflict {
            throw ServiceError(.conflict, "name: there is a user of this name already")
        }
    }

    /// Changes what is given of a user. The request is checked before any of it is stored. A user is locked out first and let in last, so
    /// that no failure in between leaves an account open with its old password. Throws as the functions for each do.
    public func changeUser(
        name: String, role: UserRole?, tags: [Tag]?, password: String?, isDisabled: Bool?, quietHours: String? = nil,
        removesSecondFactor: Bool = false, by principal: Principal? = nil
    ) async throws {
        let user = role == nil && password == nil ? try await user(name) : try await person(name, changedBy: principal)
        try Self.requirePower(over: user.role, principal)
        if let role { try Self.requirePower(over: try Self.personRole(role), principal) }
        guard !removesSecondFactor || user.secondFactorAt != nil else { throw Self.noSecondFactor }
        let tags = try tags.map { try Self.checked($0) }
        let hours = try quietHours.map { try checkedHours($0) }
        let hash = if let password { try await hash(password, of: user.name) } else { PasswordHash?.none }
        if isDisabled == true { try await setDisabled(true, ofUser: name, by: principal) }
        if let role { try await setRole(role, ofUser: name, by: principal) }
        // The role may have been raised by another request meanwhile.
        if let hash { try await setPassword(hash, of: try await person(name, changedBy: principal), by: principal) }
        if let tags { try await setTags(tags, ofUser: name, by: principal) }
        if let hours { try await setQuietHours(hours, of: user, by: principal) }
        if removesSecondFactor { try await removeSecondFactor(ofUser: name, by: principal) }
        if isDisabled == false { try await setDisabled(false, ofUser: name, by: principal) }
    }

    /// Sets a password; every installation credential of the user is void, and the devices are signed out: their phones could
    /// not do that any more.
    ///
    /// Throws `not-found`; `invalid-field` as `addUser` does; and what the hub throws when the password is changed and a device
    /// could not be signed out: a retry does the rest.
    public func setPassword(_ password: String, ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await person(name, changedBy: principal)
        try await setPassword(try await hash(password, of: user.name), of: user, by: principal)
    }

    private func setPassword(_ hash: PasswordHash, of user: User, by principal: Principal?) async throws {
        let entry = entry(.userChanged, by: principal, subject: user.name.text, details: "password=changed")
        guard try await parts.store.setPassword(hash, of: user.id, at: parts.clock.now, audit: entry) else { throw Self.noUser }
        try await afterEnd(of: user, "the password is changed, but a device is not signed out yet; set it again")
    }

    /// Ends all sessions of a user: every installation credential is void, and the devices are signed out. Throws as `setPassword`.
    public func endSessions(ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await user(name)
        try Self.requirePower(over: user.role, principal)
        let entry = entry(.userChanged, by: principal, subject: user.name.text, details: "sessions=ended")
        guard try await parts.store.endSessions(of: user.id, isDisabled: nil, at: parts.clock.now, audit: entry) else {
            throw Self.noUser
        }
        try await afterEnd(of: user, "the sessions are ended, but a device is not signed out yet; end them again")
    }

    /// Keeps a user from signing in, which also ends their sessions, or lets them sign in again. Throws as `setPassword`.
    public func setDisabled(_ isDisabled: Bool, ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await user(name)
        try Self.requirePower(over: user.role, principal)
        let entry = entry(.userChanged, by: principal, subject: user.name.text, details: "disabled=\(isDisabled)")
        guard try await parts.store.endSessions(of: user.id, isDisabled: isDisabled, at: parts.clock.now, audit: entry) else {
            throw Self.noUser
        }
        try await afterEnd(of: user, "the user is changed, but a device is not signed out yet; do it again")
    }

    /// What follows when the credentials of a user were voided.
    private func afterEnd(of user: User, _ trouble: String) async throws {
        forgetCredentials()
        do { try await signOutDevices(of: user.id) } catch let error as ServiceError {
            throw ServiceError(error.code, "\(trouble) (\(error.detail ?? ""))")
        }
    }

    /// Those without a credential: who has signed in with the new password meanwhile stays.
    private func signOutDevices(of user: UserID) async throws {
        let bindings = try await parts.store.bindings(of: user, since: .last, limit: Self.bindingLimit)
        for binding in bindings where binding.until == nil {
            try await parts.signOut(
                binding.device.record, of: user, ifStill: BindingState(binding: binding.number, credential: nil))
        }
    }

    /// Sets a role; it counts within five seconds on every node. Throws `not-found`.
    public func setRole(_ role: UserRole, ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await person(name, changedBy: principal)
        try Self.requirePower(over: role, principal)
        let entry = entry(.userChanged, by: principal, subject: user.name.text, details: "role=\(role.rawValue)")
        guard try await parts.store.setRole(try Self.personRole(role), of: user.id, audit: entry) else { throw Self.noUser }
        forgetCredentials()
    }

    /// Sets the tags that each device of a user has beside its own; devices that are signed in get them at once. Where a device
    /// would have more tags than one may, the last of its own go.
    ///
    /// Throws `not-found`, `invalid-field`, `quota-exceeded`, and what the hub throws when the tags are set and it does not know
    /// them of a device yet: the upkeep of any node notifies it.
    public func setTags(_ tags: [Tag], ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await user(name)
        // The signer of a token said with it which tags its user has, of whatever role.
        let isOwnToken = principal?.token != nil && principal?.userID == user.id
        if !isOwnToken { try Self.requirePower(over: user.role, principal) }
        let tags = try Self.checked(tags)
        let entry = entry(
            .userChanged, by: principal, subject: user.name.text, details: "tags=\(tags.map(\.text).joined(separator: ","))")
        let mark = DeviceChange.newMark()
        guard
            let records = try await parts.store.setTags(tags, of: user.id, mark: mark, at: parts.clock.now, audit: entry)
        else { throw Self.noUser }
        if tags != user.tags { forgetCredentials() }
        try await synchronise(records, mark: mark)
    }

    /// Sets the hours in which a user's devices get no new notification, beside those of the app: `22:00-07:00`, in half hours, or `none`.
    ///
    /// Throws `not-found`, `invalid-field`, `conflict` where the setting `user-quiet-hours` is off, and what the hub throws when they are set
    /// and it does not know them of a device yet: the upkeep of any node notifies it.
    public func setQuietHours(_ text: String, ofUser name: String, by principal: Principal? = nil) async throws {
        let user = try await user(name)
        try Self.requirePower(over: user.role, principal)
        try await setQuietHours(try checkedHours(text), of: user, by: principal)
    }

    private func setQuietHours(_ hours: QuietHours?, of user: User, by principal: Principal?) async throws {
        let entry = entry(
            .userChanged, by: principal, subject: user.name.text, details: "quiet-hours=\(hours?.description ?? "none")")
        let mark = DeviceChange.newMark()
        guard
            let records = try await parts.store.setQuietHours(hours, of: user.id, mark: mark, at: parts.clock.now, audit: entry)
        else { throw Self.noUser }
        try await synchronise(records, mark: mark)
    }

    private func checkedHours(_ text: String) throws(ServiceError) -> QuietHours? {
        guard parts.settings.userQuietHours else {
            throw ServiceError(.conflict, "quietHours: the setting user-quiet-hours is off, so sends would not keep them")
        }
        if text == "none" { return nil }
        guard let hours = QuietHours(text), hours.from % 1_800 == 0, hours.to % 1_800 == 0 else {
            throw ServiceError(.invalidField, "quietHours: two different times in half hours, such as 22:00-07:30, or none")
        }
        return hours
    }

    /// Makes the hub agree with bindings that were changed in one transaction. A device that fails keeps the change from no other.
    func synchronise(_ records: [RecordID], mark: Int64) async throws {
        var failure: (any Error)?
        for record in records {
            do { try await parts.synchronise(record, in: DeviceChange(record, mark: mark)) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    static func checked(_ tags: [Tag]) throws(ServiceError) -> [Tag] {
        guard tags.count <= 20 else { throw ServiceError(.invalidField, "tags: a user has at most 20 tags") }
        guard !tags.contains(where: \.namesUser) else {
            throw ServiceError(.invalidField, "tags: the tag username: is each user's own")
        }
        return tags.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Names that begin with `@` are those of service accounts.
    package static func personName(_ name: String) throws(ServiceError) -> UserName {
        guard let userName = UserName(name), !name.hasPrefix(ServiceAccount.prefix) else {
            throw ServiceError(
                .invalidField, "name: a user name has 1 to 64 of A-Z a-z 0-9 _ @ . - and does not begin with @")
        }
        return userName
    }

    static func personRole(_ role: UserRole) throws(ServiceError) -> UserRole {
        guard UserRole.ofPersons.contains(role) else {
            let roles = UserRole.ofPersons.map(\.rawValue).joined(separator: ", ")
            throw ServiceError(.invalidField, "role: one of \(roles)")
        }
        return role
    }

    /// Throws `forbidden` when a key that manages users would gain more by it than it has, or have power over another key: who sets the
    /// password of a user can do all that the user may.
    static func requirePower(over role: UserRole, _ principal: Principal?) throws(ServiceError) {
        guard let principal, AccessTable.extent(of: .manageKeys, for: principal) != .all else { return }
        switch role {
        case .user: return
        case .sender where principal.key?.sendsAnywhere == true: return
        case .sender: throw ServiceError(.forbidden, "this service key changes users of role sender with the scope send only")
        case .admin, .auditor, .service:
            throw ServiceError(.forbidden, "only an administrator changes users of role \(role.rawValue)")
        }
    }

    /// A user whom the caller may change, and who is no service account.
    func person(_ name: String, changedBy principal: Principal?) async throws -> User {
        let user = try await user(name)
        try Self.requirePower(over: user.role, principal)
        guard user.role != .service else { throw ServiceError(.conflict, "this is the account of a service key") }
        return user
    }

    /// The users in the order of their names, after `name`, at most `limit` (1 … 1,001): one more than a page shows whether there is
    /// another page. With `prefix` those whose names begin with it, without regard to case.
    public func users(after name: String? = nil, prefix: String? = nil, limit: Int = 1000) async throws -> [User] {
        try await parts.store.users(
            after: name.flatMap { UserName($0) }, prefix: prefix?.lowercased() ?? "", limit: min(max(limit, 1), 1001))
    }

    /// Removes a user with their devices and credentials. What they sent stays. Throws `not-found`, and `conflict` for the account of a
    /// service key: its keys could be rolled and would sign nothing in.
    public func removeUser(name: String, by principal: Principal? = nil) async throws {
        let user = try await person(name, changedBy: principal)
        // The hub first, as in signing out: an interrupted removal can be retried, and the devices get no push meanwhile.
        let bindings = try await parts.store.bindings(of: user.id, since: .last, limit: Self.bindingLimit)
        for binding in bindings where binding.until == nil { _ = try await parts.hub.removeDevice(binding.device.record) }
        let mark = DeviceChange.newMark()
        let entry = entry(.userRemoved, by: principal, subject: user.name.text)
        guard let records = try await parts.store.removeUser(user.id, mark: mark, at: parts.clock.now, audit: entry) else {
            throw Self.noUser
        }
        forgetCredentials()
        for record in records { try await parts.synchronise(record, in: DeviceChange(record, mark: mark)) }
    }

    /// An audit entry of an act of a principal, or of a command.
    func entry(
        _ action: AuditAction, by principal: Principal?, subject: String = "", object: String = "", details: String = ""
    ) -> AuditEntry {
        let now = parts.clock.now
        return principal?.entry(action, at: now, subject: subject, object: object, details: details)
            ?? AuditEntry(action, by: .command, at: now, subject: subject, object: object, details: details)
    }

    private static let noUser = ServiceError(.notFound, "there is no user of this name")

    /// The user of this name. Throws `not-found`.
    public func user(_ name: String) async throws -> User {
        guard let userName = UserName(name), let stored = try await parts.store.user(named: userName) else {
            throw Self.noUser
        }
        return stored.user
    }

    private func hash(_ password: String, of user: UserName) async throws -> PasswordHash {
        try PasswordRule(minimumLength: parts.settings.minimumPasswordLength).check(password, of: user)
        do { return try await parts.hasher.hash(password) } catch { throw error.serviceError }
    }
}

/// Export and erasure of everything that is stored about a user.
extension RichPushBackend {
    /// Throws what `exportUser` throws before it hands out anything: `not-found`, and `forbidden` for a user above the caller.
    @discardableResult
    public func requireExport(ofUser name: String, by principal: Principal?) async throws -> User {
        let user = try await user(name)
        try Self.requirePower(over: user.role, principal)
        return user
    }

    /// Hands out everything that is stored about a user: each record as one line of JSON, and each content of theirs. Throws as
    /// `requireExport`.
    ///
    /// The last lines, of kind `inbox`, are what they may read now, from any sender.
    public func exportUser(
        name: String, by principal: Principal? = nil, line: (String) async throws -> Void,
        content: (_ id: String, _ fileName: String?, ReadableContent) async throws -> Void
    ) async throws {
        let user = try await requireExport(ofUser: name, by: principal)
        try await parts.store.record(entry(.userExported, by: principal, subject: user.name.text))
        for kind in parts.store.userDataKinds {
            try await forEachRecord(kind, of: user) { record in
                try await line(record.json)
                if kind == "contents" { try await export(record, content) }
            }
        }
        try await exportInbox(of: Principal(user: user), line)
    }

    /// How many bytes the contents of a user have, of which an export hands out those that have not expired. Throws `not-found`.
    public func contentBytes(ofUser name: String) async throws -> Int64 {
        let user = try await user(name)
        var bytes: Int64 = 0
        try await forEachRecord("contents", of: user) { record in
            for field in record.fields where field.name == "byte_count" {
                if case .number(let count) = field.value { bytes += count }
            }
        }
        return bytes
    }

    private func forEachRecord(
        _ kind: String, of user: User, _ body: (UserDataRecord) async throws -> Void
    ) async throws {
        var cursor: UserDataValue?
        repeat {
            let page = try await parts.store.records(kind, of: user.id, after: cursor, limit: Self.exportPage)
            for record in page { try await body(record) }
            cursor = page.count == Self.exportPage ? page.last?.cursor : nil
        } while cursor != nil
    }

    /// Removes everything that is stored about a user and what they sent, bytes included; what others sent to more than them
    /// stays and no longer names them. It can be retried after an interruption. Throws as `removeUser`.
    ///
    /// Bytes that were stored within the last hour go with the next sweep of the server.
    public func eraseUser(name: String, by principal: Principal? = nil) async throws {
        let user = try await person(name, changedBy: principal)
        let store = parts.store
        // Who manages users alone must not destroy what the audit says of another user, who had the name before.
        let isLimited = principal.map { AccessTable.extent(of: .manageKeys, for: $0) != .all } ?? false
        let auditSince = isLimited ? user.createdAt : Timestamp(milliseconds: 0)
        // The entry of this act has no name: the name is what is erased.
        try await store.lockOut(user.id, at: parts.clock.now, audit: entry(.userErased, by: principal))
        forgetCredentials()
        // The hub first: no push may leave for an erased user.
        let records = try await store.devices(of: user.id)
        for record in records { _ = try await parts.hub.removeDevice(record) }
        var erasure = AuditErasure(
            of: user.name, installations: records.compactMap { InstallationID($0.text) }, since: auditSince)
        // A request that signed in before may write until the user is gone, so there is a second look after that.
        for _ in 0..<2 {
            try await recallAll(of: user)
            let head = try await store.auditEnds().head
            // While there is a user of this name: an erasure that is cut off can be repeated until then only.
            try await store.eraseAudit(erasure, batch: Self.exportPage)
            erasure.readTo = head.size
            for account in [user.name.text, Self.codeAccount(of: user.name)] {
                try await store.forget(account: SignInAttempt.account(of: account))
            }
            try await store.erase(user, at: parts.clock.now)
        }
        try await BackendSweep(parts: parts, orphanSweep: OrphanSweep()).removeOrphans()
    }

    private func recallAll(of user: User) async throws {
        try await endActivities(of: user)
        while true {
            let due = try await parts.store.notificationsToRecall(of: user, limit: Self.exportPage)
            if due.isEmpty { return }
            for id in due {
                let now = parts.clock.now
                _ = try await parts.store.recall(id, at: now, contentExpiry: now, audit: nil)
                try await outbox.cancel(id)
            }
        }
    }

    private static let exportPage = 200

    private func export(
        _ record: UserDataRecord, _ content: (String, String?, ReadableContent) async throws -> Void
    ) async throws {
        guard case .text(let id) = record.cursor,
            let stored = try await parts.store.content(id, at: parts.clock.now),
            let reader = try await parts.contentStore.open(stored.digest)
        else { return }
        try await content(id, stored.fileName, ReadableContent(descriptor: stored.descriptor, reader: reader))
    }

    private func exportInbox(of principal: Principal, _ line: (String) async throws -> Void) async throws {
        guard AccessTable.extent(of: .readInbox, for: principal) != .none else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var before: String?
        repeat {
            let page = try await inbox(before: before, limit: 100, for: principal)
            for entry in page.notifications {
                let json = String(decoding: try encoder.encode(entry), as: UTF8.self)
                try await line(JSONText.object([("kind", JSONText.string("inbox")), ("fields", json)]))
            }
            before = page.next
        } while before != nil
    }
}

extension UserDataRecord {
    /// As one line.
    var json: String {
        let fields = fields.map { field -> (String, String?) in
            switch field.value {
            case .absent: (field.name, "null")
            case .number(let number): (field.name, "\(number)")
            case .text(let text): (field.name, JSONText.string(text))
            }
        }
        return JSONText.object([("kind", JSONText.string(kind)), ("fields", JSONText.object(fields))])
    }
}
