import PushHub
import Crypto

/// A number that stands for a content: equal contents have equal ones, and nobody meets two contents with one.
enum ContentHash {
    /// The first 64 bits of the SHA-256 of the parts, each with its length, so that no two lists read the same.
    static func number(of parts: [String?]) -> Int64 {
        var hash = SHA256()
        for part in parts {
            let bytes = part.map { Array($0.utf8) }
            hash.update(data: Array("\(bytes?.count ?? -1):".utf8))
            hash.update(data: bytes ?? [])
        }
        return Int64(bitPattern: hash.finalize().prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
