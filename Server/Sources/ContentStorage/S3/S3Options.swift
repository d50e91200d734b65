import WireText

/// How an S3-compatible store is used.
public struct S3Options: Sendable {
    public var location: S3Location
    public var credentials: S3Credentials
    /// A PEM file with certificates that vouch for the store besides the system's.
    public var trustRootsPath: String?
    /// Whether `link` returns presigned URLs.
    public var handsOutLinks = false
    /// The bytes of one part of a large upload, and the most that an upload holds in memory. Stores want at least 5 MiB.
    var partBytes = 5 << 20
    /// The bytes of one copy inside the store; each has to end within `requestDeadline`.
    public var copyBytes: Int64 = 256 << 20
    /// Uploads under way at most; each holds up to `partBytes`.
    public var maximumUploads = 16
    /// Downloads at most that keep a connection of their own; those above ask for each piece anew.
    var maximumStreams = 256
    /// Connections at most.
    public var connections = 384
    /// Requests at most that are under way or wait for a connection, streams not counted.
    var maximumRequests = 1024
    /// How long a connection may take to come about.
    var connectDeadline: Duration = .seconds(5)
    /// How long a connection may be silent in the middle of a body.
    var silenceDeadline: Duration = .seconds(20)
    /// How long one attempt may take to the beginning of its answer.
    public var attemptDeadline: Duration = .seconds(20)
    /// How long one request may take with its repetitions.
    public var requestDeadline: Duration = .seconds(60)
    /// How long one attempt to read a content for a phone may take to the beginning of its answer.
    var readAttemptDeadline: Duration = .seconds(8)
    /// How long it may take to the beginning of its answer, with its retries. Less than the deadline of a request to the server, so that
    /// the caller gets the reason. Lists, removals and files of jobs, for which no caller waits, have longer deadlines.
    var readDeadline: Duration = .seconds(20)

    public init(location: S3Location, credentials: S3Credentials) {
        self.location = location
        self.credentials = credentials
    }

    /// How long an attempt may take, and all of them together. A read that a phone waits for has the shorter ones of both kinds.
    func deadlines(isAwaited: Bool) -> (attempt: Duration, all: Duration) {
        guard isAwaited else { return (attemptDeadline, requestDeadline) }
        return (min(readAttemptDeadline, attemptDeadline), min(readDeadline, requestDeadline))
    }
}

/// How a bucket is named in a request.
public enum S3Addressing: String, Hashable, Sendable, CaseIterable {
    /// `https://host/bucket/key`. Every store understands it.
    case path
    /// `https://bucket.host/key`. Some stores of today want it.
    case virtualHost = "virtual-host"
}

/// A bucket at an endpoint, and the beginning of all keys in it.
public struct S3Location: Hashable, Sendable {
    public let endpoint: S3Endpoint
    public let region: String
    public let bucket: String
    /// Empty, or ends with a slash.
    public let prefix: String
    public let addressing: S3Addressing

    /// Creates a location. The prefix counts with or without the slash at its end; what `isBucket` and `isPrefix` refuse does not
    /// belong here.
    public init(endpoint: S3Endpoint, region: String, bucket: String, prefix: String = "", addressing: S3Addressing = .path) {
        self.endpoint = endpoint
        self.region = region
        self.bucket = bucket
        self.prefix = prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/"
        self.addressing = addressing
    }

    var host: String { endpoint.authority(below: addressing == .virtualHost ? bucket : nil) }

    /// The path of a key, or of the bucket itself, as it is sent and signed.
    func path(_ key: String?) -> String {
        let key = key.map { PercentEncoding.encode(prefix + $0, keepsSlashes: true) } ?? ""
        return addressing == .virtualHost ? "/\(key)" : key.isEmpty ? "/\(bucket)" : "/\(bucket)/\(key)"
    }

    /// Whether a text can name a bucket: 3 to 63 lower-case letters, digits, hyphens and dots, beginning and ending with a letter or
    /// digit (Amazon S3 User Guide, "General purpose bucket naming rules").
    public static func isBucket(_ text: String) -> Bool {
        let ends = Set("abcdefghijklmnopqrstuvwxyz0123456789")
        guard (3...63).contains(text.count), let first = text.first, let last = text.last else { return false }
        return ends.contains(first) && ends.contains(last) && text.allSatisfy { ends.contains($0) || $0 == "-" || $0 == "." }
            && !text.contains("..")
    }

    /// Whether a text can begin the keys: at most 200 letters, digits and `._-/`, with no slash first and none doubled, and no part
    /// that is `.` or `..`.
    public static func isPrefix(_ text: String) -> Bool {
        let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")
        let parts = (text.hasSuffix("/") ? text.dropLast() : text[...]).split(separator: "/", omittingEmptySubsequences: false)
        return text.count <= 200 && text.allSatisfy(letters.contains)
            && (text.isEmpty || parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." })
    }
}

/// Where an S3-compatible store answers: scheme, host and perhaps a port.
public struct S3Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Whether the way there is protected by TLS.
    public let isSecure: Bool
    /// A host name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    /// The port; absent means that of the scheme.
    public let port: Int?

    /// Reads `https://host`, `http://host:port` and the like; `nil` for anything else, a path, a query or a user included.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowered.hasPrefix) else { return nil }
        isSecure = scheme == "https://"
        var rest = lowered.dropFirst(scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        let hostEnd: Substring.Index
        if rest.hasPrefix("[") {
            guard let bracket = rest.firstIndex(of: "]") else { return nil }
            hostEnd = rest.index(after: bracket)
            let inside = rest[rest.index(after: rest.startIndex)..<bracket]
            guard inside.contains(":"), inside.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
        } else {
            hostEnd = rest.firstIndex(of: ":") ?? rest.endIndex
            guard Self.isName(rest[..<hostEnd]) else { return nil }
        }
        host = String(rest[..<hostEnd])
        let tail = rest[hostEnd...]
        guard !tail.isEmpty else {
            port = nil
            return
        }
        guard tail.first == ":", let number = Int(tail.dropFirst()), (1...65_535).contains(number) else { return nil }
        port = number
    }

    /// As it stands in the `Host` header, for a name below it if one is given: without the port of the scheme.
    func authority(below name: String? = nil) -> String {
        let whole = name.map { "\($0).\(host)" } ?? host
        guard let port, port != (isSecure ? 443 : 80) else { return whole }
        return "\(whole):\(port)"
    }

    var scheme: String { isSecure ? "https" : "http" }

    public var description: String { "\(scheme)://\(authority())" }

    private static func isName(_ text: Substring) -> Bool {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789.-_")
        return (1...253).contains(text.count) && text.allSatisfy(letters.contains) && text.first != "." && text.first != "-"
    }
}
