import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the audit records: the closed list of acts. The raw values are stored, and filters name them.
public enum AuditAction: String, Sendable, CaseIterable, Codable {
    case signedIn = "sign-in.accepted"
    case signInRefused = "sign-in.refused"
    case signedOut = "sign-in.ended"
    case signInTokenMinted = "sign-in-token.minted"
    case consoleLinkMade = "console.link-made"
    case consoleSignedIn = "console.signed-in"
    case consoleSignedOut = "console.signed-out"
    case accessRefused = "access.refused"
    case deviceTaken = "device.taken"
    case userCreated = "user.created"
    case userChanged = "user.changed"
    case userRemoved = "user.removed"
    case userExported = "user.exported"
    case userErased = "user.erased"
    case usersImported = "users.imported"
    case keyCreated = "key.created"
    case keyRolled = "key.rolled"
    case keyRevoked = "key.revoked"
    case sendAccepted = "send.accepted"
    case sendEnded = "send.ended"
    case sendRecalled = "send.recalled"
    case scheduleCreated = "schedule.created"
    case scheduleChanged = "schedule.changed"
    case scheduleApproved = "schedule.approved"
    case scheduleEnded = "schedule.ended"
    case activityStarted = "activity.started"
    case activityEnded = "activity.ended"
    case channelCreated = "channel.created"
    case channelRemoved = "channel.removed"
    case templateChanged = "template.changed"
    case templateRemoved = "template.removed"
    case webhookCreated = "webhook.created"
    case webhookChanged = "webhook.changed"
    case webhookRemoved = "webhook.removed"
    case webhookDisabled = "webhook.disabled"
    case webhookReplayed = "webhook.replayed"
    case hubCreated = "hub.created"
    case hubChanged = "hub.changed"
    case hubKeyRolled = "hub.key-rolled"
    case hubRemoved = "hub.removed"
    case hubKeyShown = "hub.key-shown"
    case contentsAdopted = "contents.adopted"
    case auditRead = "audit.read"
    case auditPruned = "audit.pruned"
}

/// Who acted.
public enum AuditActor: Hashable, Sendable {
    /// A user who gave a password, or a token of an issuer.
    case user(String)
    /// An installation credential of a user.
    case installation(of: String)
    /// A service key, by its name.
    case key(String)
    /// A key of a hub, or of all hubs, by the name of its rule.
    case hubKey(String)
    /// A command on the machine of a node, which needs no credential.
    case command
    /// The server by itself.
    case server
    /// A caller who proved nothing; the name is the one that they gave.
    case unknown(String)

    /// The kind in words that are stored.
    public var kind: String {
        switch self {
        case .user: "user"
        case .installation: "installation"
        case .key: "key"
        case .hubKey: "hub-key"
        case .command: "command"
        case .server: "server"
        case .unknown: "unknown"
        }
    }

    /// The name, empty where the kind says all.
    public var name: String {
        switch self {
        case .user(let name), .installation(let name), .key(let name), .hubKey(let name), .unknown(let name): name
        case .command, .server: ""
        }
    }
}

/// A text that names a person, and its commitment. The chain covers the commitment alone, so that the text can be erased.
public struct AuditText: Hashable, Sendable {
    /// The text, with the salt of its commitment; `nil` once it is erased.
    public private(set) var content: Content?
    /// SHA-256 of salt and text.
    public let commitment: [UInt8]

    /// A text and the random bytes in front of it in the commitment, without which it could be guessed.
    public struct Content: Hashable, Sendable {
        public var text: String
        public var salt: [UInt8]

        /// Creates a content.
        public init(text: String, salt: [UInt8]) {
            self.text = text
            self.salt = salt
        }

        var commitment: [UInt8] { Array(SHA256.hash(data: salt + Array(text.utf8))) }
    }

    /// Commits to a text with 16 random bytes, and cuts a long one. What a terminal or a log would not show as it is gets replaced: a text
    /// begins no new line, moves no cursor and turns no direction of writing around.
    public init(_ text: String) {
        var generator = SystemRandomNumberGenerator()
        self.init(text, salt: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    fileprivate init(_ text: String, salt: [UInt8]) {
        // By scalars: one character may have any number of them.
        let shown = text.unicodeScalars.prefix(Self.limit).map { Self.isShown($0) ? $0 : "?" }
        let content = Content(text: String(String.UnicodeScalarView(shown)), salt: salt)
        self.content = content
        commitment = content.commitment
    }

    /// Takes a text from storage.
    public init(content: Content?, commitment: [UInt8]) {
        self.content = content
        self.commitment = commitment
    }

    /// Whether the text is the one that was committed to. An erased text shows nothing, and is no fault.
    public var isTrue: Bool { content.map { $0.commitment == commitment } ?? true }

    /// How many scalars of a text are kept.
    public static let limit = 2_000

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

/// One entry of the audit. It holds no secret, no device token and no content.
public struct AuditEntry: Hashable, Sendable {
    /// 32 hexadecimal digits, drawn before the transaction of the act, so that a transaction that is repeated writes one entry.
    public var id: String
    public var at: Timestamp
    public var action: AuditAction
    public var actorKind: String
    public var actor: AuditText
    /// Whom or what the act was about: the name of a user, or of a key.
    public var subject: AuditText
    /// A number, id or name that is no person's: of a send, of a key, or of a hub.
    public var object: String
    /// More, as `name=value` with blanks between: the audience of a send, the fields that changed, an installation.
    public var details: AuditText
    private var seed = Seed()

    /// Creates an entry, with an id of 128 random bits.
    public init(
        _ action: AuditAction, by actor: AuditActor, from network: String = "", at: Timestamp, subject: String = "",
        object: String = "", details: String = ""
    ) {
        id = Hexadecimal.random(byteCount: 16)
        self.at = at
        self.action = action
        actorKind = actor.kind
        // The network is the actor's, and is erased with the name.
        self.actor = AuditText(network.isEmpty ? actor.name : "\(actor.name) \(network)")
        self.subject = AuditText(subject)
        self.object = object
        self.details = AuditText(details)
    }

    /// An entry of something that the act of this one brought about, by the same actor. The same call gives the same entry, so it may be
    /// made in a transaction that is repeated; `number` distinguishes entries that are otherwise alike.
    public func causing(
        _ action: AuditAction, subject: String, object: String = "", details: String, number: Int = 0
    ) -> AuditEntry {
        var entry = self
        let name = "\(number) \(action.rawValue) \(object) \(subject) \(details)"
        entry.id = Hexadecimal.text(of: seed.bytes(for: "id \(name)"))
        (entry.action, entry.object) = (action, object)
        entry.subject = AuditText(subject, salt: seed.bytes(for: "subject \(name)"))
        entry.details = AuditText(details, salt: seed.bytes(for: "details \(name)"))
        return entry
    }

    /// For the entry of a pruning: how many entries went, and under the key the head that is the anchor now.
    public func pruned(to anchor: AuditHead, entries: Int64, signedBy key: AuditSigningKey) throws -> AuditEntry {
        let signature = Data(try key.signature(of: Self.pruning(to: anchor))).base64EncodedString()
        return causing(
            .auditPruned, subject: "", object: "\(anchor.size)",
            details: "entries=\(entries) hash=\(Hexadecimal.text(of: anchor.hash)) signature=\(signature)")
    }

    /// Whether this is the entry of the pruning that made a head the anchor. A row that was written past the server has no signature of
    /// the key for it.
    func prunes(to anchor: AuditHead, signedBy key: AuditPublicKey) -> Bool {
        guard action == .auditPruned, let word = details.content?.text.split(separator: " ").last, word.hasPrefix("signature="),
            let signature = Data(base64Encoded: String(word.dropFirst("signature=".count)))
        else { return false }
        return key.verifies(Array(signature), of: Self.pruning(to: anchor))
    }

    /// What the server signs when it prunes: no checkpoint has this text.
    private static func pruning(to anchor: AuditHead) -> [UInt8] {
        Array("clarion audit pruned 1\n\(anchor.size)\n\(Hexadecimal.text(of: anchor.hash))\n".utf8)
    }

    /// How details name an installation, whose id is a person's and goes with them.
    public static func installation(_ id: String) -> String { "installation=\(id)" }

    /// Takes an entry from storage.
    public init(
        id: String, at: Timestamp, action: AuditAction, actorKind: String, actor: AuditText, subject: AuditText, object: String,
        details: AuditText
    ) {
        self.id = id
        self.at = at
        self.action = action
        self.actorKind = actorKind
        self.actor = actor
        self.subject = subject
        self.object = object
        self.details = details
    }

    /// What ids and salts are drawn from in a transaction. It is stored nowhere, so that erased texts cannot be guessed with it, and is no
    /// part of what an entry says.
    private struct Seed: Hashable, Sendable {
        private let key = SymmetricKey(size: .bits256)

        func bytes(for name: String) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: Array(name.utf8), using: key).prefix(16))
        }

        static func == (left: Seed, right: Seed) -> Bool { true }

        func hash(into hasher: inout Hasher) {}
    }
}
