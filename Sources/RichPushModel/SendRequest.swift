/// The JSON body of `POST /api/v1/notifications`, and the part named `notification` of its multipart form.
public struct SendRequest: Hashable, Sendable, Codable {
    /// A tag expression, for example `username:alice && !beta`. Absent means the sender's own devices.
    public var audience: String?
    public var title: String?
    public var subtitle: String?
    /// What the notification says: 1 to 2,000 characters. Empty for kind `sealed`, whose words are inside.
    public var message: String
    /// What the phone shows in place of a picture or sound for those who cannot perceive it.
    public var altText: String?
    /// Default: found from the content; `text` when there is none.
    public var kind: ContentKind?
    /// Default `alert`.
    public var style: DeliveryStyle?
    /// Default `neutral`.
    public var preview: PreviewPolicy?
    /// The id of content stored before with `POST /api/v1/content`.
    public var contentID: String?
    /// The id of the small variant, stored before.
    public var thumbID: String?
    /// For kind `url`: an absolute https link (http only to loopback), at most 2,000 characters.
    public var link: String?
    /// For kind `coupon`.
    public var coupon: Coupon?
    /// Milliseconds since 1970 after which the push is of no use.
    public var expiresAt: Timestamp?
    /// At most 64 bytes (Reference/APNs.md#3-2).
    public var collapseID: String?
    /// A sound file of the app, or `default`; absent means `default` for visible styles.
    public var sound: String?
    public var badge: Int?
    /// Groups notifications on the phone.
    public var thread: String?
    /// At most so many pushes of this send leave in a second, 1 to 100,000, so that an audience that fetches at once does not
    /// overrun what it fetches from. Absent means as fast as possible.
    public var pushesPerSecond: Int?
    /// For kind `sealed` only, and there required: the number that it is sealed under, from `GET /api/v1/sealing`. When another
    /// send was faster the answer is 409, and the sender asks for a number and seals the envelope again.
    public var id: RichID?

    /// Creates a request; everything but the message has a default.
    public init(message: String) { self.message = message }

    private enum CodingKeys: String, CodingKey {
        case audience, title, subtitle, message, altText, kind, style, preview, contentID = "contentId", thumbID = "thumbId"
        case link, coupon, expiresAt, collapseID = "collapseId", sound, badge, thread
        case pushesPerSecond, id
    }
}

/// The answer to a send, with status 201 for a request with a body.
public struct SendAnswer: Hashable, Sendable, Codable {
    public var id: RichID
    /// The hub's own id of the send, by which its telemetry is asked for.
    public var trackingID: String
    /// Who may read the content, in words, because an audience over self-chosen tags admits whoever holds the tag in time.
    public var readableBy: String
    /// True when content came with the request and its stored bytes differ from those that were sent, because metadata was removed.
    public var metadataRemoved: Bool?

    /// Creates an answer.
    public init(id: RichID, trackingID: String, readableBy: String, metadataRemoved: Bool? = nil) {
        self.id = id
        self.trackingID = trackingID
        self.readableBy = readableBy
        self.metadataRemoved = metadataRemoved
    }

    private enum CodingKeys: String, CodingKey { case id, trackingID = "trackingId", readableBy, metadataRemoved }
}

/// The answer to `POST /api/v1/content`.
public struct ContentAnswer: Hashable, Sendable, Codable {
    /// Name it in `contentId` or `thumbId` of a send; only the user who stored it may.
    public var id: String
    /// Size and SHA-256 are those of the stored bytes.
    public var content: ContentDescriptor
    /// True when the stored bytes differ from those that were sent, because metadata was removed; absent otherwise.
    public var metadataRemoved: Bool?

    /// Creates an answer.
    public init(id: String, content: ContentDescriptor, metadataRemoved: Bool? = nil) {
        self.id = id
        self.content = content
        self.metadataRemoved = metadataRemoved
    }
}
