import Crypto
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The key under which a node keeps the secrets of its hubs: 32 random bytes. Never printed.
public struct MasterKey: Sendable {
    private static let length = 32
    private let bytes: [UInt8]

    /// Reads the Base64 text of 32 bytes; blanks and line breaks, as files have them, do not count; `nil` for anything else.
    public init?(text: String) {
        let trimmed = text.filter { !$0.isWhitespace }
        guard trimmed.utf8.count == 44, let data = Data(base64Encoded: trimmed), data.count == Self.length else { return nil }
        bytes = Array(data)
    }

    private init(random bytes: [UInt8]) { self.bytes = bytes }

    /// A new key.
    public static func random() -> MasterKey { MasterKey(random: RandomBytes.make(length)) }

    /// The text to keep. For its file only; never log it.
    public var text: String { Data(bytes).base64EncodedString() }

    /// Tells this key from others and nothing about it: eight hexadecimal digits of a digest.
    public var id: String {
        let digest = SHA256.hash(data: Array("clarion master key id\n".utf8) + bytes)
        return Hexadecimal.text(of: digest.prefix(4))
    }

    /// The key of one purpose's family, so that the master key itself encrypts nothing and can serve for more than sealing.
    func derivedKey(for use: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), info: Array("clarion \(use)".utf8), outputByteCount: Self.length)
    }
}

extension MasterKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "master key \(id) (not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
