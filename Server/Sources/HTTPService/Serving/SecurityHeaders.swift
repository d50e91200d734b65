import HTTPTypes

/// The headers that keep a browser from doing more with an answer than was meant (Reference/SecurityCases.md#1).
enum SecurityHeaders {
    /// Adds them; what a page or a download has set itself stays, except that types are never guessed.
    static func add(to headers: inout HTTPFields) {
        headers[.xContentTypeOptions] = nil
        headers.append(noSniffing)
        for field in defaults where !headers.contains(field.name) { headers.append(field) }
    }

    /// What a listener with TLS adds (RFC 6797, 6.1).
    static let strictTransport = HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")

    // Made once: a value is checked whenever a field is made of it.
    private static let noSniffing = HTTPField(name: .xContentTypeOptions, value: "nosniff")
    private static let defaults = [
        HTTPField(name: .referrerPolicy, value: "no-referrer"),
        HTTPField(name: .contentSecurityPolicy, value: "default-src 'none'; frame-ancestors 'none'; sandbox"),
        HTTPField(name: .crossOriginResourcePolicy, value: "same-origin"), HTTPField(name: .cacheControl, value: "no-store"),
    ]
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .via
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .via
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .via
    static let traceParent = HTTPField.Name("traceparent") ?? .via
    static let traceState = HTTPField.Name("tracestate") ?? .via
}
