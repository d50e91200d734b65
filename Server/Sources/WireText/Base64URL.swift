#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The URL-safe alphabet of RFC 4648 section 5, without padding.
public enum Base64URL {
    /// The text of some bytes.
    public static func text(of bytes: [UInt8]) -> String {
        String(decoding: spelling(of: Data(bytes)), as: UTF8.self)
    }

    /// `nil` for anything that is not the one canonical spelling of some bytes.
    public static func bytes(of text: some StringProtocol) -> [UInt8]? {
        // Byte by byte: every fetch of every phone comes through here.
        let given = Array(text.utf8)
        var standard = Data(capacity: given.count + 3)
        for byte in given {
            guard let letter = standardLetter(byte) else { return nil }
            standard.append(letter)
        }
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - given.count % 4) % 4))
        guard let data = Data(base64Encoded: standard), spelling(of: data) == given else { return nil }
        return Array(data)
    }

    private static func spelling(of data: Data) -> [UInt8] {
        data.base64EncodedData().compactMap { letter in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: letter
            }
        }
    }

    /// The letter of the usual alphabet; `nil` for one that is not of the URL-safe one.
    private static func standardLetter(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            byte
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: nil
        }
    }
}
