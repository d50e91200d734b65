#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The part of a push that rich push understands, as a phone reads it. Apple's own keys are left to the system.
public struct PushEnvelope: Hashable, Sendable, Codable {
    /// Category and action names that both sides use (they are the rich push tutorial's).
    public static let category = "richPush"
    /// The action behind the button "More".
    public static let moreAction = "richPushMore"
    /// The action behind the field in which the user answers, in apps that offer one.
    public static let replyAction = "richPushReply"

    /// The notification to fetch.
    public var id: RichID
    public var kind: ContentKind
    /// The sender's text when the preview is open, else empty.
    public var message: String
    /// The mark of the one user it is for; absent from pushes to several users, from the rich push tutorial's own and from older
    /// servers.
    public var subject: SubjectMark?
    /// Whether the system shows this push itself. If it does, the app must not show it again.
    public var hasAlert: Bool
    /// Whether the push asks the system to wake the app.
    public var wakesApp: Bool
    /// What a push of data alone says itself. Absent where the system reads that, and from a push that only wakes the app.
    public var words: PushWords?

    /// Creates an envelope.
    public init(
        id: RichID, kind: ContentKind, message: String = "", subject: SubjectMark? = nil, hasAlert: Bool, wakesApp: Bool,
        words: PushWords? = nil
    ) {
        self.id = id
        self.kind = kind
        self.message = message
        self.subject = subject
        self.hasAlert = hasAlert
        self.wakesApp = wakesApp
        self.words = words
    }

    /// Reads a push of data alone, as an Android app gets it (Documentation/FCM.md); `nil` when it is not a rich push. Keys that are not
    /// known and values of another form are passed over. The system shows nothing of it, so the app does.
    public init?(data: [String: String]) {
        guard let id = data["richId"].flatMap({ RichID($0) }) else { return nil }
        self.init(
            id: id, kind: ContentKind(rawValue: data["richType"] ?? "file"), message: data["richMessage"] ?? "",
            subject: data[SubjectMark.key].flatMap { SubjectMark($0) }, hasAlert: false, wakesApp: true,
            words: PushWords(data: data))
    }

    /// Reads the JSON of a push; `nil` when it is not a rich push. Every value is type-checked, since a push payload may
    /// hold anything.
    public init?(payload: Data) {
        guard let wire = try? JSONDecoder().decode(Wire.self, from: payload), let id = wire.richId else { return nil }
        self.init(
            id: id, kind: ContentKind(rawValue: wire.richType ?? "file"), message: wire.richMessage ?? "",
            subject: wire.richFor, hasAlert: wire.aps?.hasAlert ?? false, wakesApp: wire.aps?.contentAvailable ?? false)
    }

    private struct Wire: Decodable {
        var richId: RichID?
        var richType: String?
        var richMessage: String?
        var richFor: SubjectMark?
        var aps: Aps?

        private enum CodingKeys: String, CodingKey { case richId, richType, richMessage, richFor, aps }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            richId = try? container.decode(RichID.self, forKey: .richId)
            richType = try? container.decode(String.self, forKey: .richType)
            richMessage = try? container.decode(String.self, forKey: .richMessage)
            richFor = try? container.decode(SubjectMark.self, forKey: .richFor)
            aps = try? container.decode(Aps.self, forKey: .aps)
        }
    }

    private struct Aps: Decodable {
        var hasAlert: Bool
        var contentAvailable: Bool

        private enum CodingKeys: String, CodingKey { case alert, contentAvailable = "content-available" }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            contentAvailable = (try? container.decode(Int.self, forKey: .contentAvailable)) == 1
            if let text = try? container.decode(String.self, forKey: .alert) {
                hasAlert = !text.isEmpty
            } else {
                hasAlert = (try? container.nestedContainer(keyedBy: CodingKeys.self, forKey: .alert)) != nil
            }
        }
    }
}

/// The texts of a push of data alone: what the app shows until it has the content, or where there is none. With them come the sender's wishes
/// for the notification.
public struct PushWords: Hashable, Sendable, Codable {
    public var title: String?
    public var subtitle: String?
    public var body: String?
    /// Notifications with the same one belong together.
    public var thread: String?
    /// The name of a sound, `default` for the usual one; a notification without one is silent.
    public var sound: String?
    /// The number on the icon. Without one the app shows how many of its notifications are unread.
    public var badge: Int?

    /// Reads the data of a push; `nil` when it has nothing to show.
    public init?(data: [String: String]) {
        let stated = { (key: String) in data[key].flatMap { $0.isEmpty ? nil : $0 } }
        (title, subtitle, body, thread) = (stated("title"), stated("subtitle"), stated("body"), stated("thread"))
        (sound, badge) = (stated("sound"), stated("badge").flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 })
        if title == nil, subtitle == nil, body == nil { return nil }
    }
}

/// The number that travels in a push and names a rich notification: a decimal number of 31 bits.
///
/// The phones of the rich push tutorial read an `int`, hence the size. It is sequential and not secret: access to the content is
/// checked, knowing the number gives nothing.
public struct RichID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 1 … 2,147,483,647.
    public let number: Int32

    /// Creates an id; `nil` below 1.
    public init?(number: Int32) {
        guard number >= 1 else { return nil }
        self.number = number
    }

    /// Reads the canonical decimal form: ASCII digits without sign, blank or leading zero.
    public init?(_ text: some StringProtocol) {
        let digits = text.utf8
        guard (1...10).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int32(text)
        else { return nil }
        self.number = number
    }

    public var description: String { String(number) }

    public static func < (left: RichID, right: RichID) -> Bool { left.number < right.number }
}

extension RichID: Codable {
    /// Reads a JSON string or a JSON number; the rich push tutorial's pushes carry a string, its phones read a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let read =
            (try? container.decode(String.self)).flatMap { RichID($0) }
            ?? (try? container.decode(Int32.self)).flatMap { RichID(number: $0) }
        guard let read else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a rich notification id")
        }
        self = read
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Marks the user that a push is for, so that a phone which several users share does not show it to the wrong one: the first 8 bytes of
/// SHA-256 over a fixed prefix, the rich id and the user's name.
///
/// The rich id makes the mark differ in every push, so the push service cannot link two pushes to one user. The mark is not secret,
/// since a name can be guessed and checked. It grants nothing: the server checks access to the content.
public struct SubjectMark: Hashable, Sendable {
    /// The key of a push that carries it.
    public static let key = "richFor"
    private static let length = 8

    /// 16 lower-case hexadecimal digits.
    public let text: String

    /// Reads the mark of a push; `nil` when the text is no mark.
    public init?(_ text: String) {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
        guard text.utf8.count == 2 * Self.length, text.utf8.allSatisfy(isDigit) else { return nil }
        self.text = text
    }

    /// Makes the mark from a digest, which is SHA-256 of `message(of:for:)`; `nil` when it is shorter than 8 bytes.
    public init?(digest: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = digest.prefix(Self.length)
        self.init(String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self))
    }

    /// What is hashed. Names count without regard to case, as users do.
    public static func message(of id: RichID, for user: String) -> [UInt8] {
        Array("clarion subject 1\n\(id)\n\(user.lowercased())".utf8)
    }
}

extension SubjectMark: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let mark = SubjectMark(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a subject mark")
        }
        self = mark
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
