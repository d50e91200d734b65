/// What a rich notification carries, so that the phone knows how to open it. Open for more kinds.
public struct ContentKind: RawRepresentable, Hashable, Sendable, Codable {
    /// The word on the wire (`richType` in the push): 1 to 32 of `a-z 0-9 -`.
    public let rawValue: String

    /// Creates a kind; any word is kept, so that an old phone can show what a new server sends as a plain file.
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
    /// Words only, no content to fetch.
    public static let text = ContentKind(rawValue: "text")
    /// End-to-end encrypted: which of the other kinds it is, only its receivers know.
    public static let sealed = ContentKind(rawValue: "sealed")

    /// The kinds this version knows how to show.
    public static let known: [ContentKind] = [.image, .sound, .video, .link, .coupon, .file, .text, .sealed]
}
