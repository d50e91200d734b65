import NIOSSL

extension NIOSSLCertificate {
    /// Whether one of the DNS names of this certificate is `expected` (RFC 6125: whole labels, `*` only as the first one).
    ///
    /// NIOSSL's own check is satisfied as well by an *address* in the certificate that is the peer's, even when a name was
    /// asked for. Authorities do certify addresses, so whoever diverts the name's DNS answer to a machine of their own could
    /// pass for APNs. Where a name is expected, only a name may prove it.
    func isIssued(toName expected: String) -> Bool {
        let expected = Self.labels(expected.utf8)
        guard !expected.isEmpty else { return false }
        for name in _subjectAlternativeNames() where name.nameType == .dnsName {
            if Self.matches(Self.labels(Array(name.contents)), expected) { return true }
        }
        return false
    }

    private static func matches(_ pattern: [[UInt8]], _ expected: [[UInt8]]) -> Bool {
        guard pattern.count == expected.count else { return false }
        if pattern == expected { return true }
        // A wildcard stands for one label, and not directly below a top-level domain.
        return pattern.count > 2 && pattern[0] == [UInt8(ascii: "*")] && pattern.dropFirst() == expected.dropFirst()
    }

    private static func labels(_ name: some Sequence<UInt8>) -> [[UInt8]] {
        var bytes = name.map { byte -> UInt8 in (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
    }
}
