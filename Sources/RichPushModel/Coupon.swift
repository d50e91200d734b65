/// The content of a notification of kind `coupon`, stored and fetched as JSON.
public struct Coupon: Hashable, Sendable, Codable {
    /// What the holder shows at the till: 1 to 64 characters.
    public var code: String
    /// What it is worth, in the sender's words: at most 200 characters.
    public var headline: String
    /// Conditions, in the sender's words: at most 2,000 characters.
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
