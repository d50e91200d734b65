import AppBackend
import RichPushModel

extension S3ContentStore {
    /// What the options say.
    public var handsOutLinks: Bool { client.options.handsOutLinks }

    /// An address at which anybody gets a content from the store itself, for `lifetime` and at most five minutes. The store answers
    /// with this media type and `Content-Disposition`. `nil` unless the options say that links are handed out.
    public func link(to digest: ContentDigest, mediaType: String, disposition: String, lifetime: Duration) -> String? {
        guard client.options.handsOutLinks else { return nil }
        let location = client.options.location
        let path = location.path(S3Keys.object(digest))
        let query = client.signer.link(
            for: .init(
                method: "GET", host: location.host, path: path,
                query: [
                    ("response-cache-control", "private, max-age=300"), ("response-content-disposition", disposition),
                    ("response-content-type", mediaType),
                ]), lifetime: min(lifetime, Self.longestLink), at: client.clock.now)
        return "\(location.endpoint.scheme)://\(location.host)\(path)?\(S3Signer.text(of: query))"
    }
}
