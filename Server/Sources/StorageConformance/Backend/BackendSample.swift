import AppBackend
import PushHub
import RichPushModel
import SharedAccess
import TagExpressions
import Testing

import struct RichPushModel.Tag

/// Values that the promises of the app backend's ports use.
enum BackendSample {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)

    static func time(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

    static func hash(_ password: String) throws -> PasswordHash {
        try PasswordHash(of: password, cost: PasswordHash.Cost(logarithmOfRounds: 4, blockSize: 1, parallelism: 1))
    }

    static func name(_ text: String) throws -> UserName { try #require(UserName(text)) }

    /// A new user without a password.
    static func user(
        _ name: String, _ role: UserRole = .sender, in store: any BackendStore
    ) async throws -> User {
        try await store.createUser(name: try self.name(name), role: role, password: nil, at: start)
    }

    static func handle(_ number: Int) -> DeviceToken {
        let digits = String(number, radix: 16, uppercase: true)
        return DeviceToken(canonical: String(repeating: "0", count: 64 - digits.count) + digits)
    }

    static func device(_ record: String, handle number: Int?, tags: [String] = []) throws -> BoundDevice {
        BoundDevice(
            record: try #require(RecordID(record)), kind: .installation, platform: .apns, handle: number.map(handle),
            tags: tags.compactMap(Tag.init))
    }

    static func credential(
        _ installation: String, of user: User, digest: UInt8, expires: Timestamp = time(1000)
    ) throws -> StoredInstallationCredential {
        StoredInstallationCredential(
            installation: try #require(InstallationID(installation)), user: user.id,
            digest: Array(repeating: digest, count: 32), credentialVersion: user.credentialVersion, expiresAt: expires)
    }

    static func digest(_ number: Int) throws -> ContentDigest {
        let digits = String(number, radix: 16)
        return try #require(ContentDigest(String(repeating: "0", count: 64 - digits.count) + digits))
    }

    static func content(
        _ id: String, of user: User, bytes: Int64 = 100, digest number: Int = 1, expires: Timestamp? = time(1000)
    ) throws -> ContentRecord {
        ContentRecord(
            id: id, owner: user.id, digest: try digest(number), mediaType: "image/png", byteCount: bytes, fileName: "a.png",
            expiresAt: expires)
    }

    static func draft(
        from user: User, to audience: String, content: String? = nil, key: IdempotencyKey? = nil, number: RichID? = nil,
        expires: Timestamp? = nil
    ) throws -> RichNotificationDraft {
        let texts = NotificationTexts(title: "Title", message: "Hello 😀", altText: "a picture")
        return RichNotificationDraft(
            sender: user.id, senderName: user.name, kind: .image, style: .both, texts: texts, contentID: content,
            audience: try TagExpression(parsing: audience), expiresAt: expires, pushesPerSecond: 7,
            push: PushTemplate(form: .silent, kind: .image, openMessage: "Hello 😀"), nonce: "nonce", idempotencyKey: key,
            number: number)
    }

    /// Sends, and expects it to be taken.
    static func send(
        _ draft: RichNotificationDraft, in store: any BackendStore, at now: Timestamp = start
    ) async throws -> RichNotification {
        guard case .accepted(let notification) = try await store.accept(draft, at: now) else {
            throw Unexpected(what: "the draft was not accepted as new")
        }
        return notification
    }

    /// An answer that no promise allows.
    struct Unexpected: Error { var what: String }

    static func key(_ text: String, _ byte: UInt8 = 1) -> IdempotencyKey {
        IdempotencyKey(key: text, digest: Array(repeating: byte, count: 32))
    }

    static func receipt(
        _ id: RichID, _ kind: Receipt.Kind, of user: User, _ installation: String, action: String? = nil
    ) throws -> StoredReceipt {
        StoredReceipt(
            receipt: Receipt(richID: id, kind: kind, action: action, at: start), user: user.id,
            installation: try #require(InstallationID(installation)))
    }
}

/// The calls of the store without an audit entry, as tests make them that are about something else.
extension BackendStore {
    public func createUser(
        name: UserName, role: UserRole, password: PasswordHash?, at now: Timestamp
    ) async throws -> User {
        try await createUser(NewUser(name: name, role: role, password: password), at: now, audit: nil)
    }

    public func setPassword(_ password: PasswordHash, of id: UserID) async throws -> Bool {
        try await setPassword(password, of: id, at: BackendSample.start, audit: nil)
    }

    public func setRole(_ role: UserRole, of id: UserID) async throws -> Bool { try await setRole(role, of: id, audit: nil) }

    public func removeUser(_ id: UserID, mark: Int64, at now: Timestamp) async throws -> [RecordID]? {
        try await removeUser(id, mark: mark, at: now, audit: nil)
    }

    public func bind(
        _ device: BoundDevice, to user: UserID, with credential: BindingCredential, devices: Int = BindingLimits.bindings,
        mark: Int64, at now: Timestamp
    ) async throws -> BindingOutcome {
        try await bind(device, to: user, with: credential, devices: devices, mark: mark, at: now, audit: nil)
    }

    public func unbind(
        _ record: RecordID, from user: UserID, if condition: UnbindingCondition, mark: Int64, at now: Timestamp
    ) async throws -> UnbindingOutcome {
        try await unbind(record, from: user, if: condition, mark: mark, at: now, audit: nil)
    }

    public func accept(_ draft: RichNotificationDraft, at now: Timestamp) async throws -> Acceptance {
        try await accept(draft, at: now, audit: nil)
    }

    public func markCompleted(_ id: RichID, at moment: Timestamp, order: OrderNumber?) async throws {
        try await markCompleted(id, at: moment, order: order, audit: nil)
    }

    public func recall(_ id: RichID, at now: Timestamp, contentExpiry: Timestamp) async throws -> Bool {
        try await recall(id, at: now, contentExpiry: contentExpiry, audit: nil)
    }
}
