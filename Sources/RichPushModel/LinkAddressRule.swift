#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Which links may be sent: absolute https, and http to loopback for trying things out.
public enum LinkAddressRule {
    /// The most characters of a link.
    public static let maximumLength = 2000

    /// What a link must be and is not; `nil` for one that is fit.
    public static func fault(of link: String) -> String? {
        let visible = link.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        guard (1...maximumLength).contains(link.utf8.count), visible, let url = URL(string: link),
            let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty, url.user() == nil,
            scheme == "https" || (scheme == "http" && isLoopback(host))
        else { return "an absolute https address without user name, at most \(maximumLength) ASCII characters" }
        return nil
    }

    private static func isLoopback(_ host: String) -> Bool { ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host) }
}
