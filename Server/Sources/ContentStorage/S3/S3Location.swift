import WireText

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

    /// The value of the `Host` header.
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
