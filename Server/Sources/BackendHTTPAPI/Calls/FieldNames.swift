/// The fields of the request bodies. One that is not here is refused, so that a typing error does not silently change a send.
enum FieldNames {
    /// `SendRequest`.
    static let send: Set<String> = [
        "audience", "title", "subtitle", "message", "altText", "kind", "style", "preview", "contentId", "thumbId", "link",
        "coupon", "coupon.code", "coupon.headline", "coupon.terms", "coupon.validUntil", "expiresAt", "collapseId", "sound",
        "badge", "thread", "pushesPerSecond", "id",
    ]
    /// `ReceiptBatch`.
    static let receipts: Set<String> = ["receipts", "receipts.id", "receipts.kind", "receipts.action", "receipts.at"]
    /// `InstallationUpdate`.
    static let installation: Set<String> = [
        "platform", "handle", "tags", "environment", "topic", "locale", "sealingKey", "appVersion", "systemVersion", "timeZone",
        "permission", "capabilities",
    ]
    /// `RegistrationBody`.
    static let registration: Set<String> = ["Platform", "Handle", "Tags"]
    /// `Reply`.
    static let reply: Set<String> = ["id", "text"]
    /// `ReadState`.
    static let readState: Set<String> = ["read"]
}
