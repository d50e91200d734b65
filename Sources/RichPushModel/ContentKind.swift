/// What a rich notification carries, so that the phone knows how to open it. More kinds may be added.
public struct ContentKind: RawRepresentable, Hashable, Sendable, Codable {
    /// The value on the wire (`richType` in the push): 1 to 32 of `a-z 0-9 -`.
    public let rawValue: String

    /// Creates a kind; any value is kept, so that an old phone can show content of a newer server as a plain file.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A picture.
    public static let image = ContentKind(rawValue: "img")
    /// A sound to play.
    public static let sound = ContentKind(rawValue: "sound")
    /// A video to play.
    public static let video = ContentKind(rawValue: "video")
    /// A link, opened only after the user confirms; its content is one `text/uri-list` line.
    public static let link = ContentKind(rawValue: "url")
    /// A coupon card; its content is a `Coupon` as JSON.
    public static let coupon = ContentKind(rawValue: "coupon")
    /// Any other file.
    public static let file = ContentKind(rawValue: "file")
    /// Text only, no content to fetch.
    public static let text = ContentKind(rawValue: "text")
    /// End-to-end encrypted: only its receivers know which of the other kinds it is.
    public static let sealed = ContentKind(rawValue: "sealed")

    /// The kinds this version knows how to show.
    public static let known: [ContentKind] = [.image, .sound, .video, .link, .coupon, .file, .text, .sealed]
}

/// What the server says about a stored content, so that a phone can check what it downloads.
public struct ContentDescriptor: Hashable, Sendable, Codable {
    /// The media type that was sniffed from the bytes when they were stored, for example `image/png`.
    public var mediaType: String
    /// The size in bytes.
    public var byteCount: Int64
    /// SHA-256 of the bytes: 64 lower-case hexadecimal digits. Also the strong `ETag`.
    public var sha256: String
    /// The name the sender gave, cleaned for use in a header and never used as a path.
    public var fileName: String?

    /// Creates a descriptor.
    public init(mediaType: String, byteCount: Int64, sha256: String, fileName: String? = nil) {
        self.mediaType = mediaType
        self.byteCount = byteCount
        self.sha256 = sha256
        self.fileName = fileName
    }
}

/// The media types that content may have. A reader could treat another type as active content, so a server does not store it and a
/// device does not accept it.
public enum MediaFormat: String, CaseIterable, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"
    case mp3 = "audio/mpeg"
    case m4a = "audio/mp4"
    case wav = "audio/wav"
    case aiff = "audio/aiff"
    case caf = "audio/x-caf"
    case mp4 = "video/mp4"
    case quickTime = "video/quicktime"
    case mpeg = "video/mpeg"
    case pdf = "application/pdf"
    /// A coupon, which the server writes itself.
    case json = "application/json"
    /// A link, which the server writes itself.
    case uriList = "text/uri-list"
    case plainText = "text/plain"
    /// Content that a sender sealed for devices; only those devices learn its real type.
    case sealed = "application/vnd.clarion.sealed"

    /// The first bytes of everything that is sealed: the format and its version.
    public static let sealMark: [UInt8] = Array("CLRNSEAL".utf8) + [1]

    /// `image/png` of `Image/PNG; name=x`: what a header declares without its parameters.
    public static func essence(of declared: String) -> String {
        declared.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
    }
}

/// The content of a notification of kind `coupon`, stored and fetched as JSON.
public struct Coupon: Hashable, Sendable, Codable {
    /// The code that the user shows at the till: 1 to 64 characters.
    public var code: String
    /// What it is worth, as the sender wrote it: at most 200 characters.
    public var headline: String
    /// Conditions, as the sender wrote them: at most 2,000 characters.
    public var terms: String?
    /// The moment from which it is no longer valid.
    public var validUntil: Timestamp?

    /// Creates a coupon.
    public init(code: String, headline: String, terms: String? = nil, validUntil: Timestamp? = nil) {
        self.code = code
        self.headline = headline
        self.terms = terms
        self.validUntil = validUntil
    }
}
