/// Why a token is refused. The sub-codes are those that clients know beside status 401 (Reference/AzureNotificationHubs.md#1-4).
public enum SharedAccessFault: Error, Hashable, Sendable, CaseIterable {
    /// The request needs TLS. Never found here; for the caller that requires it.
    case noTransportSecurity
    /// There is no authorization header.
    case missingToken
    /// The signature fits no key of the rule, or there is no rule of that name: the two are not told apart.
    case invalidSignature
    /// The token was made for another host or another path.
    case invalidAudience
    /// The header is another scheme, too long, or not made of one field each.
    case malformedToken
    /// The token's time is over by more than the tolerance.
    case expiredToken
    /// There is no `sr`.
    case missingAudience
    /// There is no `se`.
    case missingExpiry
    /// There is no `skn`.
    case missingIssuer
    /// There is no `sig`.
    case missingSignature

    /// The five digits that go before the words in the answer's detail.
    public var subCode: Int {
        switch self {
        case .noTransportSecurity: 40101
        case .missingToken: 40102
        case .invalidSignature: 40103
        case .invalidAudience: 40104
        case .malformedToken: 40105
        case .expiredToken: 40106
        case .missingAudience: 40107
        case .missingExpiry: 40108
        case .missingIssuer: 40109
        case .missingSignature: 40110
        }
    }

    /// The words for the caller; nothing of the token is in them.
    public var detail: String {
        switch self {
        case .noTransportSecurity: "NoTransportSecurity: This operation needs a secure connection."
        case .missingToken: "MissingToken: The request has no authorization header."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .invalidAudience: "InvalidAudience: The token was made for another address than that of this request."
        case .malformedToken: "MalformedToken: The authorization header is not a shared access signature."
        case .expiredToken: "ExpiredToken: The token has expired."
        case .missingAudience: "MissingAudience: The token has no audience (sr)."
        case .missingExpiry: "MissingExpiry: The token has no expiry (se)."
        case .missingIssuer: "MissingIssuer: The token names no key (skn)."
        case .missingSignature: "MissingSignature: The token has no signature (sig)."
        }
    }
}
