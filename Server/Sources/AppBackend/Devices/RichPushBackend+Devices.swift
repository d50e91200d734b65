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

extension RichPushBackend {
    /// Creates or replaces an installation. A caller who signed with a password or a token gets a new installation credential, and
    /// the one before is void; a caller who signed with the credential may do this to its own installation only.
    ///
    /// The tags of a token replace those of its user, whose other devices get them at once. If that fails, the same token can be
    /// sent again.
    ///
    /// Throws as `putRegistration` does; `forbidden` for another installation than the credential's.
    public func putInstallation(
        id: InstallationID, update: InstallationUpdate, for principal: Principal
    ) async throws -> InstallationAnswer {
        try principal.require(.putInstallation)
        return try await notingForeignToken(of: principal) { try await put(id, update, for: principal) }
    }

    private func put(
        _ id: InstallationID, _ update: InstallationUpdate, for principal: Principal
    ) async throws -> InstallationAnswer {
        try Self.requireOwn(id, of: principal)
        let device = try await self.device(id, update, for: principal)
        let environments = device.platform.isAPNs ? await parts.pushEnvironments?() : nil
        if principal.installation != nil {
            guard let digest = principal.credentialDigest else { throw BearerAuthenticator.notValid }
            try await register(device, with: .presented(digest), for: principal)
            return InstallationAnswer(
                credential: nil, credentialExpiresAt: nil, user: principal.name.text, environments: environments)
        }
        let credential = InstallationCredential(for: id)
        let expiry = parts.clock.now + parts.settings.credentialLifetime
        let issued = StoredInstallationCredential(
            // The version that was verified, not the newest: a password changed meanwhile must end this credential too.
            installation: id, user: principal.userID, digest: credential.digest,
            credentialVersion: principal.credentialVersion, expiresAt: expiry)
        try await register(
            device, with: principal.token?.digest.map { .exchange(issued, token: $0) } ?? .issue(issued), for: principal)
        if let tags = principal.token?.tags { try await setTags(tags, ofUser: principal.name.text, by: principal) }
        return InstallationAnswer(
            credential: credential.text, credentialExpiresAt: expiry, user: principal.name.text,
            environments: environments)
    }

    /// Signs an installation out: its device record and its credential go; a retry with a password is harmless. Throws
    /// `not-found` for any but the caller's own.
    public func deleteInstallation(id: InstallationID, for principal: Principal) async throws {
        let extent = try principal.require(.deleteInstallation)
        try Self.requireOwn(id, of: principal)
        guard let record = RecordID(id.text) else { throw ServiceError(.notFound, "there is no such registration") }
        if extent == .all { return try await signOut(record, by: principal) }
        try await unregister(record, for: principal)
    }

    private static func requireOwn(_ id: InstallationID, of principal: Principal) throws {
        if let only = principal.token?.installation, only != id { throw TokenRefusal.foreign }
        guard principal.installation == nil || principal.installation == id else {
            throw ServiceError(.forbidden, "an installation credential is for its own installation only")
        }
    }

    private func device(_ id: InstallationID, _ update: InstallationUpdate, for principal: Principal) async throws -> BoundDevice
    {
        let platform = try await devicePlatform(of: update)
        if let environment = update.environment, environment != "sandbox", environment != "production" {
            throw ServiceError(.invalidField, "environment: it is sandbox or production")
        }
        if platform.isAPNs, let topic = update.topic, !HeaderText.isTopic(topic) {
            throw ServiceError(.invalidField, "topic: a bundle id has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
        return BoundDevice(
            record: try Self.recordID(id.text), kind: .installation, platform: platform,
            handle: try update.handle.map { try Self.handle($0, platform: platform) }, environment: update.environment,
            topic: update.topic, tags: try tagRules.tags(update.tags, of: principal),
            sealingKey: try update.sealingKey.map(Self.checkedKey), facts: try DeviceFacts(update))
    }

    /// One key has one text, so that a retry is recognised.
    private static func checkedKey(_ text: String) throws -> String {
        guard text.utf8.count == 44, let key = Data(base64Encoded: text), key.count == 32, key.base64EncodedString() == text
        else {
            throw ServiceError(.invalidField, "sealingKey: it is the base64 of 32 bytes")
        }
        return text
    }
}

/// The rich push tutorial's registrations, to the letter.
extension RichPushBackend {
    /// A new registration id of 128 random bits. Nothing is stored yet. A malformed handle is refused now.
    public func newRegistration(handle: String?, for principal: Principal) async throws -> RecordID {
        try principal.require(.registerDevice)
        if let handle { _ = try Self.handle(handle, platform: .apns) }
        guard let id = RecordID(Hexadecimal.random(byteCount: 16)) else { throw ServiceError(.internal) }
        return id
    }

    /// Creates or replaces a registration. The server adds the user's own tag; other records of the handle go.
    ///
    /// Throws `registration-gone` for the id of another user unless the stored handle is the same, `forbidden` for a protected
    /// tag of another user, `invalid-field` for anything malformed.
    public func putRegistration(
        id: String, platform: String, handle: String, tags: [String], for principal: Principal
    ) async throws {
        try principal.require(.registerDevice)
        let platform = try Self.platform(platform)
        let device = BoundDevice(
            record: try Self.recordID(id), kind: .registration, platform: platform,
            handle: try Self.handle(handle, platform: platform),
            tags: try tagRules.tags(TagRules.read(tags), of: principal))
        try await register(device, with: .password(version: principal.credentialVersion), for: principal)
    }

    /// Removes one of the caller's registrations; a retry is harmless. Throws `not-found` for any other.
    public func deleteRegistration(id: String, for principal: Principal) async throws {
        try principal.require(.registerDevice)
        guard let installation = InstallationID(id), let record = RecordID(installation.text) else {
            throw ServiceError(.notFound, "there is no such registration")
        }
        try await unregister(record, for: principal)
    }

    var tagRules: TagRules { TagRules(protectedPrefixes: parts.settings.protectedTagPrefixes) }

    /// Ids that clients choose have the characters of an installation id, so that they are safe in every path and log.
    static func recordID(_ text: String) throws -> RecordID {
        guard let id = InstallationID(text).flatMap({ RecordID($0.text) }) else {
            throw ServiceError(.invalidField, "id: a registration id has 1 to 128 of A-Z a-z 0-9 _ -")
        }
        return id
    }

    static func platform(_ text: String) throws -> Platform {
        guard text == Platform.apns.rawValue else {
            throw ServiceError(.invalidField, "platform: it is apns, or fcmv1 or browser for an installation")
        }
        return .apns
    }

    static func handle(_ text: String, platform: Platform) throws -> DeviceToken {
        guard let handle = platform.deviceToken(text) else { throw ServiceError(.invalidField, "handle: \(platform.handleRule)") }
        return handle
    }
}

extension RichPushBackend {
    /// The devices on which a user is signed in, newest first: the caller's own, or for an admin any user's. Throws `forbidden`, and
    /// `not-found` to an admin.
    public func devices(ofUser name: String?, for principal: Principal) async throws -> DeviceList {
        let extent = try principal.require(.listDevices)
        let isOwn = name.map { $0.lowercased() == principal.name.folded } ?? true
        guard isOwn || extent == .all else {
            throw ServiceError(.forbidden, "user: your role lists your own devices only")
        }
        return try await devices(ofUser: isOwn ? principal.name.text : name ?? "")
    }

    /// How many devices that others took over are listed.
    private static let takenLimit = 20

    /// As above, for an operator. Throws `not-found`.
    public func devices(ofUser name: String) async throws -> DeviceList {
        let user = try await user(name)
        let bindings = try await parts.store.bindings(of: user.id, since: .last, limit: Self.bindingLimit)
        let taken = try await parts.store.takenDevices(from: user.id, limit: Self.takenLimit)
        return DeviceList(
            devices: bindings.filter { $0.until == nil }.map { DeviceEntry($0, of: user) }, takenOver: taken.isEmpty ? nil : taken
        )
    }
}

extension DeviceEntry {
    fileprivate init(_ binding: Binding, of user: User) {
        let device = binding.device
        self.init(
            id: device.record.text, kind: device.kind.rawValue, user: user.name.text, platform: device.platform.rawValue,
            tags: device.tags.map(\.text), since: binding.from)
        (handle, environment, topic) = (device.shortHandle, device.environment, device.topic)
        guard let facts = device.facts else { return }
        (locale, languages) = (facts.locale, facts.languages)
        (timeZone, permission) = (facts.timeZone, facts.permission)
        (appVersion, systemVersion, capabilities) = (facts.appVersion, facts.systemVersion, facts.capabilities)
    }
}

extension RichPushBackend {
    /// The most users that one question names: as many as an audience of alternatives (Reference/AzureNotificationHubs.md#3-2).
    private static let userLimit = 20
    /// The most keys of one answer, which is for how many a seal may be.
    private static let keyLimit = 100

    /// What a sender needs to seal: the keys of the users' installations that are signed in, and a number. Without names the
    /// caller's own. A user who does not exist has no installations.
    ///
    /// Throws `forbidden` for an installation credential, and for a plain user who asks for other users; `invalid-field` for
    /// names that are none, for too many of them, and when there are more keys than one seal can be for.
    public func sealingDirectory(users names: [String]?, for principal: Principal) async throws -> SealingDirectory {
        try principal.require(.askForKeys)
        var keys: [SealingDirectory.Key] = []
        for name in try Self.names(names, principal) { keys += try await Self.keys(of: name, parts) }
        guard keys.count <= Self.keyLimit else {
            throw ServiceError(
                .invalidField, "users: they have \(keys.count) installations, and a seal is for \(Self.keyLimit) at most")
        }
        let last = try await parts.store.lastNumber()
        guard let number = IDReservation.number(after: last) else {
            throw ServiceError(.quotaExceeded, "the numbers of rich notifications are used up")
        }
        return SealingDirectory(number: number, keys: keys)
    }

    private static func names(_ names: [String]?, _ principal: Principal) throws -> [UserName] {
        guard let names else { return [principal.name] }
        let users = names.compactMap { UserName($0) }
        guard (1...userLimit).contains(users.count), users.count == names.count, Set(users).count == users.count else {
            throw ServiceError(.invalidField, "users: 1 to \(userLimit) different user names, with commas between them")
        }
        guard AccessTable.extent(of: .askForKeys, for: principal) == .all || users == [principal.name] else {
            throw ServiceError(.forbidden, "your role sends to your own devices only")
        }
        if let key = principal.key, !users.allSatisfy({ key.allows(.tag(.user($0))) }) {
            throw ServiceError(.forbidden, "users: this service key may not send to all of them")
        }
        return users
    }

    private static func keys(of name: UserName, _ parts: BackendParts) async throws -> [SealingDirectory.Key] {
        guard let user = try await parts.store.user(named: name) else { return [] }
        return try await parts.store.bindings(of: user.user.id, since: .last, limit: bindingLimit)
            .filter { $0.until == nil }
            .compactMap { binding in
                guard let key = binding.device.sealingKey, let id = InstallationID(binding.device.record.text) else { return nil }
                return SealingDirectory.Key(installation: id, user: user.user.name.text, key: key, since: binding.from)
            }
            .sorted { $0.installation.text < $1.installation.text }
    }
}

/// The numbers that a sender may ask for, because a seal is bound to its notification's number before the send. Numbers are
/// given in the order of the commits, and inboxes rely on that; so nothing is locked: a sender that is too late asks again. Numbers
/// lie some way ahead, so that sends of others in between seldom conflict.
public enum IDReservation {
    /// How far beyond the last number a draft may ask. What is skipped is lost, of two thousand million.
    public static let limit: Int32 = 64
    /// How far ahead of the last number an answer is.
    static let lead: ClosedRange<Int32> = 1...16

    /// A number for a sender that will send soon.
    static func number(after last: Int32) -> RichID? {
        RichID(number: last.addingReportingOverflow(.random(in: lead)).partialValue)
    }
}

/// What the backend and its upkeep both do with devices.
extension BackendParts {
    /// Notes that a device is about to change. The caller ends the change with `synchronise`, or with `end` if nothing changed.
    func begin(_ record: RecordID) async throws -> DeviceChange {
        let change = DeviceChange(record)
        try await store.begin(change, at: clock.now)
        return change
    }

    /// Ends a change. If this fails, the upkeep only checks the device once more.
    func end(_ change: DeviceChange) async { try? await store.end(change) }

    /// Makes the hub agree with the current binding of a record, as part of the given change or a new one.
    ///
    /// A permanent refusal of the hub ends the change too: it is thrown, and the hub keeps nothing of another user.
    func synchronise(_ record: RecordID, in begun: DeviceChange? = nil, thoroughly: Bool = false) async throws {
        let change = if let begun { begun } else { try await begin(record) }
        do {
            try await settle(record, thoroughly: thoroughly)
        } catch let refusal as DeviceRefusal {
            await end(change)
            throw refusal.error
        }
        await end(change)
    }

    /// Updates the hub from the current binding of a record. A late update of this record, by this or an ended process, may have taken the
    /// device from another record that now has its device token; `thoroughly` checks those in any case.
    private func settle(_ record: RecordID, thoroughly: Bool) async throws {
        guard try await settleAlone(record) || thoroughly else { return }
        for sharer in try await store.sharers(of: record) {
            let change = try await begin(sharer)
            do { _ = try await settleAlone(sharer) } catch let refusal as DeviceRefusal {
                logger.warning("The hub refused a device", metadata: ["error_code": "\(refusal.error.code.rawValue)"])
            }
            await end(change)
        }
    }

    /// Updates the hub from a record's last binding and checks again, because of two concurrent changes the last binding must win at
    /// the hub too. Returns whether other records may be affected: no binding holds, or it took more than one update.
    private func settleAlone(_ record: RecordID) async throws -> Bool {
        for round in 0..<Self.synchroniseLimit {
            let last = try await store.lastBinding(of: record)
            let quiet = try await quietHours(of: last)
            let tokens = try await tokens(of: last)
            var refusal: DeviceRefusal?
            if let last, last.until == nil {
                let request = request(for: last.device, quiet, tokens)
                do { _ = try await hub.upsert(request) } catch let error as ServiceError
                    where error.refusesDevice
                {
                    refusal = DeviceRefusal(error: error)
                    try await removeFormer(of: last.device)
                }
            } else {
                // Also if the user was erased during the hub update.
                _ = try await hub.removeDevice(record)
                try await store.forgetTokens(of: record)
            }
            let now = try await store.lastBinding(of: record)
            guard now?.number == last?.number, (now?.until == nil) == (last?.until == nil),
                try await quietHours(of: now) == quiet, try await self.tokens(of: now) == tokens
            else { continue }
            if let refusal { throw refusal }
            return round > 0 || last?.until != nil
        }
        throw ServiceError(.conflict, "the registration is being changed by others; try again")
    }

    /// Those of the user who is bound.
    private func quietHours(of binding: Binding?) async throws -> QuietHours? {
        guard settings.userQuietHours, let binding, binding.until == nil else { return nil }
        return try await store.user(binding.user)?.quietHours
    }

    /// What the user who is bound reported of the installation's other tokens.
    private func tokens(of binding: Binding?) async throws -> [InstallationToken] {
        guard let binding, binding.until == nil, binding.device.kind == .installation else { return [] }
        return try await store.tokens(of: binding.device.record, user: binding.user)
    }

    /// What the hub is asked to keep of a device. A zone that no send can be due in counts as none.
    private func request(for device: BoundDevice, _ quiet: QuietHours?, _ tokens: [InstallationToken]) -> DeviceUpsert {
        var request = device.upsert
        request.tokens = tokens
        let zone = device.facts?.timeZone.flatMap { zones.zone($0) == nil ? nil : $0 } ?? DeviceZone.unknown.name
        request.timeZone = DeviceClock(zone: zone, quiet: quiet).name
        request.languages = device.facts?.preference ?? LanguagePreference([])
        return request
    }

    /// The hub rejects the binding's device. The hub's old record stays only if it names the same user and device.
    private func removeFormer(of device: BoundDevice) async throws {
        guard let known = try await hub.device(device.record) else { return }
        let isOfSameUser = known.tags.allSatisfy { !$0.namesUser || device.tags.contains($0) }
        if !isOfSameUser || known.handle != device.handle { _ = try await hub.removeDevice(device.record) }
    }

    private static let synchroniseLimit = 5

    /// Signs out a device whose credential is no longer valid: it could not do so itself, and must not be sent anything for a user who
    /// leaves it. The hub comes first, as when a device signs itself out. What was bound since `seen` stays.
    ///
    /// `false` when the user signed in anew meanwhile: nothing ended then.
    @discardableResult
    func signOut(
        _ record: RecordID, of user: UserID, ifStill seen: BindingState, audit entry: AuditEntry? = nil
    ) async throws -> Bool {
        guard let binding = try await store.currentBinding(of: record), binding.user == user else { return true }
        guard binding.number == seen.binding, try await store.bindingState(of: record) == seen else { return false }
        _ = try await hub.removeDevice(record)
        let change = DeviceChange(record)
        let outcome = try await store.unbind(
            record, from: user, if: .unchanged(seen), mark: change.mark, at: clock.now, audit: entry)
        // Also if nothing ended: a user bound meanwhile has just lost the device at the hub.
        try await synchronise(record, in: outcome == .unbound ? change : nil)
        return outcome != .superseded
    }
}

extension RichPushBackend {
    /// Binds a device and makes the hub know it. The binding comes first: if the process dies between the two, access is
    /// right, and the upkeep of any node repairs the hub.
    ///
    /// Throws `unauthenticated` when the credential that the caller presented was replaced meanwhile, and `not-ready` when the sessions of
    /// a caller with a password or a token ended.
    func register(_ device: BoundDevice, with credential: BindingCredential, for principal: Principal) async throws {
        try await refuseForeignHubRecord(device)
        let change = DeviceChange(device.record)
        let outcome = try await parts.store.bind(
            device, to: principal.userID, with: credential, devices: parts.settings.userDevices, mark: change.mark,
            at: parts.clock.now,
            audit: principal.entry(
                .signedIn, at: parts.clock.now, subject: principal.name.text,
                details: AuditEntry.installation(device.record.text) + (principal.token.map { " \($0.details)" } ?? "")))
        if outcome == .credentialReplaced { throw endedMeanwhile(principal) }
        guard case .bound(_, let replaced, let taken) = outcome else { throw Self.gone }
        for record in [device.record] + replaced { bearers.forget(record.text) }
        try await parts.synchronise(device.record, in: change)
        for record in replaced { try await parts.synchronise(record, in: DeviceChange(record, mark: change.mark)) }
        if !replaced.isEmpty {
            parts.logger.notice("A registration replaced others of the same handle", metadata: ["count": "\(replaced.count)"])
        }
        if !taken.isEmpty {
            parts.logger.notice(
                "A user registered a device token of another user and took the device over",
                metadata: ["record": "\(device.record)", "count": "\(taken.count)"]
            )
        }
        parts.observer?.observed(.registered(device.record, user: principal.name))
    }

    /// Another node may have ended the sessions within the seconds for which this one remembers who signed in. What the caller presented
    /// may still be right, so it is asked for again instead of refused.
    private func endedMeanwhile(_ principal: Principal) -> ServiceError {
        guard principal.installation == nil else { return BearerAuthenticator.notValid }
        forgetCredentials()
        return ServiceError(.notReady, "the sessions of the user were ended meanwhile; repeat the request", retryAfter: 1)
    }

    /// Ends a device of the caller. Can be retried.
    ///
    /// The hub comes first: if the process dies between the two, nothing is pushed to the device any more, and its credential
    /// still works for the retry that ends the binding. No change is noted before, because it would bring the device back. It is
    /// noted with the end of the binding, in case an earlier registration reaches the hub late.
    /// Only what was seen at the start ends: a sign-in that comes meanwhile stays, at the hub too.
    func unregister(_ record: RecordID, for principal: Principal) async throws {
        let store = parts.store
        let seen = try await store.bindingState(of: record)
        if principal.installation != nil, seen.credential != principal.credentialDigest { throw BearerAuthenticator.notValid }
        let condition = principal.credentialDigest.map(UnbindingCondition.credential) ?? .unchanged(seen)
        let isOwn = try await store.currentBinding(of: record)?.user == principal.userID
        if isOwn { _ = try await parts.hub.removeDevice(record) }
        let change = DeviceChange(record)
        let outcome = try await store.unbind(
            record, from: principal.userID, if: condition, mark: change.mark, at: parts.clock.now,
            audit: principal.entry(
                .signedOut, at: parts.clock.now, subject: principal.name.text, details: AuditEntry.installation(record.text)))
        bearers.forget(record.text)
        // Also if nothing ended: a user bound meanwhile has just lost the device at the hub.
        if outcome == .unbound { try await parts.synchronise(record, in: change) } else if isOwn { try await synchronise(record) }
        switch outcome {
        case .unbound: break
        case .foreign: throw ServiceError(.notFound, "there is no such registration")
        case .superseded where principal.installation != nil: throw BearerAuthenticator.notValid
        case .superseded: throw Self.registeredMeanwhile
        }
        parts.observer?.observed(.signedOut(record, user: principal.name))
    }

    /// Signs a device of any user out, for a caller who may.
    func signOut(_ record: RecordID, by principal: Principal) async throws {
        let seen = try await parts.store.bindingState(of: record)
        guard let binding = try await parts.store.currentBinding(of: record), binding.number == seen.binding else {
            throw ServiceError(.notFound, "there is no such registration")
        }
        bearers.forget(record.text)
        let name = try await parts.store.user(binding.user)?.name.text ?? ""
        let isOut = try await parts.signOut(
            record, of: binding.user, ifStill: seen,
            audit: principal.entry(
                .signedOut, at: parts.clock.now, subject: name, details: AuditEntry.installation(record.text)))
        bearers.forget(record.text)
        guard isOut else { throw Self.registeredMeanwhile }
    }

    func synchronise(_ record: RecordID) async throws { try await parts.synchronise(record) }

    private static let registeredMeanwhile = ServiceError(
        .conflict, "the device was registered again meanwhile; this sign-out ended nothing")

    static let gone = ServiceError(.registrationGone, "this registration belongs to another device; ask for a new id")

    /// A record that was written with a hub key belongs to no user; it is taken over only with the same handle.
    private func refuseForeignHubRecord(_ device: BoundDevice) async throws {
        guard try await parts.store.currentBinding(of: device.record) == nil,
            let known = try await parts.hub.device(device.record), let handle = known.handle
        else { return }
        guard handle == device.handle, known.platform == device.platform else { throw Self.gone }
    }
}

/// A hub does not take a device as its user registered it, however often it is asked.
private struct DeviceRefusal: Error {
    var error: ServiceError
}

extension ServiceError {
    /// Whether an answer to a device is about the device. Everything else may be otherwise the next time.
    var refusesDevice: Bool { [.invalidField, .conflict, .quotaExceeded, .payloadTooLarge, .registrationGone].contains(code) }
}
