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
        try Self.requireOwn(id, of: principal)
        let device = try self.device(id, update, for: principal)
        if principal.installation != nil {
            guard let digest = principal.credentialDigest else { throw BearerAuthenticator.notValid }
            try await register(device, with: .presented(digest), for: principal)
            return InstallationAnswer(
                credential: nil, credentialExpiresAt: nil, user: principal.name.text,
                environments: await parts.pushEnvironments?())
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
            environments: await parts.pushEnvironments?())
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
        if let only = principal.token?.installation, only != id { throw TokenRefusal.error(TokenRefusal.elsewhere) }
        guard principal.installation == nil || principal.installation == id else {
            throw ServiceError(.forbidden, "an installation credential is for its own installation only")
        }
    }

    private func device(_ id: InstallationID, _ update: InstallationUpdate, for principal: Principal) throws -> BoundDevice {
        let platform = try Self.platform(update.platform)
        if let environment = update.environment, environment != "sandbox", environment != "production" {
            throw ServiceError(.invalidField, "environment: it is sandbox or production")
        }
        if let topic = update.topic { try Self.checkTopic(topic) }
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

    /// A topic becomes a header of every push to the device. The hub has the same rule.
    private static func checkTopic(_ topic: String) throws {
        guard (1...128).contains(topic.utf8.count), topic.utf8.allSatisfy({ $0.isASCIILetterOrDigit || ".-_".utf8.contains($0) })
        else {
            throw ServiceError(.invalidField, "topic: a bundle id has 1 to 128 letters, digits, dots, hyphens and underscores")
        }
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
        try await register(device, with: .none, for: principal)
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
            throw ServiceError(.invalidField, "platform: apns is the only platform that this server sends through")
        }
        return .apns
    }

    static func handle(_ text: String, platform: Platform) throws -> DeviceHandle {
        guard let handle = DeviceHandle(text, platform: platform) else {
            throw ServiceError(.invalidField, "handle: a device token is 1 to 200 bytes in hexadecimal")
        }
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
        handle = device.handle.map { String($0.text.prefix(6)) }
        (environment, topic) = (device.environment, device.topic)
        guard let facts = device.facts else { return }
        (locale, timeZone, permission) = (facts.locale, facts.timeZone, facts.permission)
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
