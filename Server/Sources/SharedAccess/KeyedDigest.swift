import Crypto

/// A digest under a key that only this process knows: a cache may hold it without holding anything that a password could
/// be guessed from after a memory dump of another moment.
public struct KeyedDigest: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    private let key = SymmetricKey(size: .bits256)

    /// Creates a digest function with a fresh key.
    public init() {}

    /// The digest of the parts; their lengths are part of it, so that no two lists of parts meet.
    public func digest(of parts: [String]) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        for part in parts {
            let bytes = Array(part.utf8)
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { code.update(data: Array($0)) }
            code.update(data: bytes)
        }
        return Array(code.finalize())
    }

    public var description: String { "keyed digest (key not shown)" }
    public var debugDescription: String { description }
}
