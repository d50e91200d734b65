import WireText

/// The serial number of a certificate as `openssl x509 -serial` prints it: two upper-case hexadecimal digits a byte.
enum CertificateSerialNumber {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        Hexadecimal.text(of: bytes, uppercase: true)
    }

    /// One form for every way to write the same number: capital or small letters, with or without colons, leading zeros and
    /// the word before it that openssl prints. `nil` for what is no number of at most 20 bytes (RFC 5280, 4.1.2.2).
    static func canonical(_ text: String) -> String? {
        var digits = ""
        let number = text.lowercased().hasPrefix("serial=") ? text.dropFirst(7) : text[...]
        let parts = number.split(separator: ":", omittingEmptySubsequences: false)
        for part in parts {
            guard !part.isEmpty, part.utf8.allSatisfy(APNsText.isHex) else { return nil }
            guard parts.count == 1 || part.utf8.count <= 2 else { return nil }
            digits += parts.count > 1 && part.utf8.count == 1 ? "0" + part : part
        }
        let significant = digits.uppercased().drop { $0 == "0" }
        guard significant.utf8.count <= 40 else { return nil }
        return significant.isEmpty ? "0" : String(significant)
    }
}
