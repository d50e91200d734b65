#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A range of IP addresses, written `10.0.0.0/8`, `fd00::/8` or as one address.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    /// The network's address: 4 or 16 bytes.
    private let network: [UInt8]
    private let prefixLength: Int
    public let description: String

    /// Reads a range; `nil` when it is none, or when bits are set after the prefix (a slip that would trust too much).
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let network = Self.bytes(ofAddress: String(first)) else { return nil }
        let width = network.count * 8
        guard parts.count == 1 || parts[1].utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        guard let length = parts.count == 1 ? width : Int(parts[1]), (0...width).contains(length) else { return nil }
        guard Self.hasOnlyZeros(network, from: length) else { return nil }
        self.network = network
        prefixLength = length
        description = text
    }

    /// Whether an address, written as text, lies in the range. An IPv4 address inside IPv6 (`::ffff:10.0.0.1`) counts as IPv4.
    public func contains(_ address: String) -> Bool {
        guard let bytes = Self.bytes(ofAddress: address).map(Self.unmapped), bytes.count == network.count else { return false }
        let whole = prefixLength / 8
        guard bytes[..<whole] == network[..<whole] else { return false }
        let rest = prefixLength % 8
        return rest == 0 || (bytes[whole] ^ network[whole]) >> UInt8(8 - rest) == 0
    }

    /// Whether a host is this machine itself, by address or as `localhost`.
    public static func isLoopback(host: String) -> Bool {
        var name = host.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        guard let bytes = bytes(ofAddress: name).map(unmapped) else { return name == "localhost" }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }

    /// Whether an address, written as text, is one of the public Internet: not of this machine, a private network, a link, a group, a
    /// documentation or a tunnel, of which IANA's registries of special-purpose addresses
    /// (https://www.iana.org/assignments/iana-ipv4-special-registry) say that no host has them. `false` for what is no address.
    public static func isPublic(_ address: String) -> Bool {
        guard let bytes = bytes(ofAddress: address).map(unmapped) else { return false }
        guard bytes.count == 16 else { return !reserved4.contains { $0.contains(address) } }
        return unicast6.contains { $0.contains(address) } && !reserved6.contains { $0.contains(address) }
    }

    private static let reserved4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    ].compactMap { AddressRange($0) }
    /// All other IPv6 addresses are of special use, or of none yet.
    private static let unicast6 = [AddressRange("2000::/3")].compactMap(\.self)
    /// Protocol assignments with Teredo, documentation twice, and 6to4.
    private static let reserved6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].compactMap { AddressRange($0) }

    /// The bytes of an address in standard form, 4 or 16 of them; `nil` for anything else, host names included.
    package static func bytes(ofAddress text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if bytes.withUnsafeMutableBytes({ inet_pton(family, text, $0.baseAddress) }) == 1 { return bytes }
        }
        return nil
    }

    private static func unmapped(_ bytes: [UInt8]) -> [UInt8] {
        let prefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
        return bytes.count == 16 && bytes.starts(with: prefix) ? Array(bytes.dropFirst(12)) : bytes
    }

    private static func hasOnlyZeros(_ bytes: [UInt8], from bit: Int) -> Bool {
        (bit..<bytes.count * 8).allSatisfy { bytes[$0 / 8] & (0x80 >> UInt8($0 % 8)) == 0 }
    }
}
