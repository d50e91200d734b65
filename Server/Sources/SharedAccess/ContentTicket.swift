import Crypto
import RichPushModel
import WireText

/// What a ticket grants: one user reads one variant of one notification's content until it expires.
public struct ContentTicket: Hashable, Sendable {
    /// The longest that a ticket may live.
    public static let maximumAge: Duration = .seconds(300)

    /// The internal number of the user.
    public var user: Int64
    public var notification: RichID
    /// `original` or `thumb`.
    public var variant: String
    /// The language tag of the translation; empty for the content that the notification has besides.
    public var language: String
    public var expiresAt: Timestamp
    /// The version of the user's password when the ticket was issued; it is void under any other.
    public var credentialVersion: Int64

    public init(
        user: Int64, notification: RichID, variant: String, language: String = "", expiresAt: Timestamp, credentialVersion: Int64
    ) {
        self.user = user
        self.notification = notification
        self.variant = variant
        self.language = language
        self.expiresAt = expiresAt
        self.credentialVersion = credentialVersion
    }
}

/// Signs and verifies tickets with HMAC-SHA256. Nodes that serve the same backend share the key.
public struct ContentTicketSigner: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// How far the clock of the node that signed may be ahead.
    private static let clockTolerance: Duration = .seconds(60)

    private let key: SymmetricKey

    /// A signer with a random key: tickets are void after a restart, which costs a player one new request.
    public init() { key = SymmetricKey(size: .bits256) }

    /// A signer for all nodes that share a master key.
    public init(_ master: MasterKey) { key = master.derivedKey(for: "content tickets") }

    /// A signer with a shared key; `nil` below 32 bytes.
    public init?(key bytes: [UInt8]) {
        guard bytes.count >= 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// The text form of a ticket, safe in a URL. A lifetime above the maximum is cut.
    public func sign(_ ticket: ContentTicket, now: Timestamp) -> String {
        var ticket = ticket
        ticket.expiresAt = min(ticket.expiresAt, now + ContentTicket.maximumAge)
        let claims = Self.claims(of: ticket)
        let code = HMAC<SHA256>.authenticationCode(for: Self.message(claims), using: key)
        return "\(claims).\(Base64URL.text(of: Array(code)))"
    }

    /// The ticket, if it was signed with this key and has not expired; else `nil`.
    public func verify(_ text: String, now: Timestamp) -> ContentTicket? {
        guard text.utf8.count <= 256, let dot = text.lastIndex(of: "."),
            let code = Base64URL.bytes(of: text[text.index(after: dot)...])
        else { return nil }
        let claims = String(text[..<dot])
        guard HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.message(claims), using: key),
            let ticket = Self.ticket(from: claims), now < ticket.expiresAt,
            ticket.expiresAt <= now + ContentTicket.maximumAge + Self.clockTolerance
        else { return nil }
        return ticket
    }

    public var description: String { "ticket signer (key not shown)" }
    public var debugDescription: String { description }

    private static func claims(of ticket: ContentTicket) -> String {
        [
            "\(ticket.user)", "\(ticket.notification)", ticket.variant, ticket.language, "\(ticket.expiresAt.milliseconds)",
            "\(ticket.credentialVersion)",
        ].joined(separator: ".")
    }

    /// The purpose stands in front, so that a code made for something else with the same key is never valid here.
    private static func message(_ claims: String) -> [UInt8] { Array("content-ticket\n\(claims)".utf8) }

    private static func ticket(from claims: String) -> ContentTicket? {
        let fields = claims.split(separator: ".", omittingEmptySubsequences: false)
        guard fields.count == 6, let user = Int64(fields[0]), let notification = RichID(fields[1]),
            let expiry = Int64(fields[4]), let version = Int64(fields[5])
        else { return nil }
        return ContentTicket(
            user: user, notification: notification, variant: String(fields[2]), language: String(fields[3]),
            expiresAt: Timestamp(milliseconds: expiry), credentialVersion: version)
    }
}
