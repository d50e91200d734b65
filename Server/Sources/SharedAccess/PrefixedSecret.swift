import Crypto

/// A secret that people paste and secret scanners find: a prefix, 43 random digits of Base62 and six digits of checksum.
///
/// 62⁴³ is more than 2²⁵⁶, so the secret cannot be guessed and its SHA-256 may be stored. The checksum is the CRC-32 of the random
/// digits alone; it refuses a typing error without a query, and spares scanners false alarms. The form is `clk_[0-9A-Za-z]{49}` for
/// a service key; the other kinds have other prefixes.
public struct PrefixedSecret: Sendable {
    /// What the secret is for; the raw value is its prefix.
    public enum Kind: String, Sendable, CaseIterable {
        case serviceKey = "clk_"
        case signInToken = "clt_"
        case consoleLink = "cll_"
        case consoleSession = "cls_"
    }

    public let kind: Kind
    private let digits: [UInt8]

    /// A new random secret.
    public init(_ kind: Kind) {
        var generator = SystemRandomNumberGenerator()
        self.kind = kind
        digits = (0..<Self.randomDigits).map { _ in Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &generator)] }
    }

    /// Reads the text form; `nil` when prefix, length, alphabet or checksum are wrong.
    public init?(text: String) {
        guard let kind = Kind.allCases.first(where: { text.hasPrefix($0.rawValue) }) else { return nil }
        let rest = Array(text.utf8.dropFirst(kind.rawValue.utf8.count))
        guard rest.count == Self.randomDigits + Self.checksumDigits else { return nil }
        let digits = Array(rest.prefix(Self.randomDigits))
        guard rest.allSatisfy(Self.alphabet.contains), Self.checksum(of: digits) == Array(rest.suffix(Self.checksumDigits)) else {
            return nil
        }
        self.kind = kind
        self.digits = digits
    }

    /// What the owner gets, once. For the one answer only; never log it.
    public var text: String { kind.rawValue + String(decoding: digits + Self.checksum(of: digits), as: UTF8.self) }

    /// What the server stores.
    public var digest: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    /// Prefix and last four digits, by which an owner recognises it in a list.
    public var hint: String { "\(kind.rawValue)…\(text.suffix(4))" }

    /// Six digits of Base62, the most significant first.
    static func checksum(of digits: [UInt8]) -> [UInt8] {
        var rest = Int(crc32(digits))
        var result: [UInt8] = []
        for _ in 0..<checksumDigits {
            result.append(alphabet[rest % alphabet.count])
            rest /= alphabet.count
        }
        return result.reversed()
    }

    /// CRC-32 as in ISO 3309, bit by bit: a secret has 43 bytes.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { value, byte in
            (0..<8).reduce(value ^ UInt32(byte)) { value, _ in (value >> 1) ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }

    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let randomDigits = 43
    private static let checksumDigits = 6
}

extension PrefixedSecret: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "\(hint) (not shown)" }
    public var debugDescription: String { description }
}
