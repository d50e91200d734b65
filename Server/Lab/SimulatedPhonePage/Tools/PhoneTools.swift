import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a developer does beside the phones: pushes by hand, notifications that are sealed before they are sent, and faults. A
/// composition gives it to the page; without it the page shows phones alone.
public protocol PhoneTools: Sendable {
    /// What can be sent without looking for a file.
    var samples: [PhoneSample] { get }

    /// Where a push to this phone goes. Throws `ServiceError`.
    func target(of phone: String) async throws -> PushTarget

    /// Sends a push through the local APNs and returns what that answered, a refusal included. Throws `ServiceError`.
    func send(_ push: HandPush, to phone: String) async throws -> HandPushAnswer

    /// Seals a notification here, as its sender, and sends it through the app backend; returns the users who cannot open it, too. Throws
    /// `ServiceError`.
    func send(_ draft: SealedDraft) async throws -> SealedDraftAnswer

    /// What goes wrong for this phone now.
    func faults(of phone: String) async -> PhoneFaults

    /// Lets other things go wrong from now on. Throws `ServiceError`.
    func set(_ faults: PhoneFaults, of phone: String) async throws

    /// APNs declares the phone's device token dead: later pushes to it are answered 410, and the app has a new one at its next
    /// start.
    func retireToken(of phone: String) async throws
}

/// What goes wrong for one phone until it is switched off again.
public struct PhoneFaults: Hashable, Sendable, Codable {
    static let fields: Set<String> = ["apns", "backend"]

    /// How the local APNs answers pushes to the phone.
    public enum APNs: String, Hashable, Sendable, Codable, CaseIterable {
        case none
        /// After three seconds.
        case delay
        /// 429 `TooManyRequests`.
        case tooManyRequests
        /// 503 `ServiceUnavailable`.
        case unavailable
        /// The connection ends instead of an answer.
        case drop
    }

    /// How the app backend answers when the phone fetches a content.
    public enum Backend: String, Hashable, Sendable, Codable, CaseIterable {
        case none
        /// 401, to everything that the phone asks, the password included: its session ends.
        case unauthorized
        /// 404.
        case gone
        /// 503.
        case failing
        /// One byte is another one, so that the hash is wrong.
        case damaged
        /// More bytes than were announced.
        case oversized
        /// Markup instead of what was announced, at its length.
        case disguised
        /// After four seconds.
        case slow
    }

    public var apns: APNs
    public var backend: Backend

    /// Creates faults; the default is that nothing goes wrong.
    public init(apns: APNs = .none, backend: Backend = .none) {
        self.apns = apns
        self.backend = backend
    }
}

/// A sample content of the page, so that its kind can be sent without choosing a file.
public struct PhoneSample: Hashable, Sendable {
    public var kind: ContentKind
    public var bytes: Data
    public var mediaType: String
    public var fileName: String
    public var altText: String

    /// Creates a sample.
    public init(kind: ContentKind, bytes: Data, mediaType: String, fileName: String, altText: String) {
        self.kind = kind
        self.bytes = bytes
        self.mediaType = mediaType
        self.fileName = fileName
        self.altText = altText
    }
}

/// A notification to be sealed by its sender. What is in it reaches the app backend in no other form than sealed.
public struct SealedDraft: Hashable, Sendable, Codable {
    static let fields: Set<String> = [
        "sender", "users", "kind", "style", "title", "subtitle", "message", "altText", "link", "coupon", "coupon.code",
        "coupon.headline", "coupon.terms", "coupon.validUntil", "fileName", "content", "thumb",
    ]

    /// The user who sends.
    public var sender: String
    /// The users whose phones open it.
    public var users: [String]
    public var kind: ContentKind
    public var style: DeliveryStyle?
    public var title: String?
    public var subtitle: String?
    public var message: String
    public var altText: String?
    public var link: String?
    public var coupon: Coupon?
    /// The name of the content; its ending says its type.
    public var fileName: String?
    /// The bytes of the content, in JSON as Base64.
    public var content: Data?
    /// A small picture of it.
    public var thumb: Data?

    /// Creates a draft.
    public init(sender: String, users: [String], kind: ContentKind, message: String) {
        self.sender = sender
        self.users = users
        self.kind = kind
        self.message = message
    }
}

/// The result of sending a sealed notification: the app backend's answer, and the recipients who will not be able to open it.
public struct SealedDraftAnswer: Hashable, Sendable, Encodable {
    public var answer: SendAnswer
    /// A sentence for each user with phones that show the neutral text, or with none that opens it.
    public var warnings: [String]

    /// Creates an answer.
    public init(_ answer: SendAnswer, warnings: [String] = []) {
        self.answer = answer
        self.warnings = warnings
    }

    private enum CodingKeys: String, CodingKey { case warnings }

    /// The warnings stand beside the backend's own fields.
    public func encode(to encoder: any Encoder) throws {
        try answer.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(warnings, forKey: .warnings)
    }
}
