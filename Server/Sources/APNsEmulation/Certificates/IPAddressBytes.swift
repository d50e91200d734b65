import NIOCore

/// The bytes of an address as a certificate holds them.
enum IPAddressBytes {
    /// 4 or 16 bytes; `nil` if the text is no address.
    static func parse(_ text: String) -> [UInt8]? {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        switch address {
        case .v4(let v4): return withUnsafeBytes(of: v4.address.sin_addr) { Array($0) }
        case .v6(let v6): return withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: return nil
        }
    }
}
