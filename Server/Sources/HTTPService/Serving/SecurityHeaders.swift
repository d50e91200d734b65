import HTTPTypes

/// The headers that keep a browser from doing more with an answer than was meant (security case 1).
enum SecurityHeaders {
    /// Adds them; what a page or a download has set itself stays, except that types are never guessed.
    static func add(to headers: inout HTTPFields) {
        headers[.xContentTypeOptions] = "nosniff"
        setDefault(.referrerPolicy, "no-referrer", in: &headers)
        setDefault(.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'; sandbox", in: &headers)
        setDefault(.crossOriginResourcePolicy, "same-origin", in: &headers)
        setDefault(.cacheControl, "no-store", in: &headers)
    }

    private static func setDefault(_ name: HTTPField.Name, _ value: String, in headers: inout HTTPFields) {
        if headers[name] == nil { headers[name] = value }
    }
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .via
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .via
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .via
}
