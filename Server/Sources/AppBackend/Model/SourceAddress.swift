/// Where a request came from, reduced to what throttling counts: the first 24 bits of an IPv4 address, the first 64 of an
/// IPv6 address.
///
/// The caller decides whether a forwarding header may be believed; this only shortens.
public struct SourceAddress: Hashable, Sendable, CustomStringConvertible {
    /// The prefix in a form that compares.
    public let prefix: String

    /// The prefix of an address in its usual text form (`192.0.2.7`, `2001:db8::7`, `::ffff:192.0.2.7`). Any other text, for
    /// example the path of a socket, stands for itself.
    public init(_ address: String) {
        let text = String(address.prefix(64))
        if let dotted = text.split(separator: ":").last, dotted.contains("."), let short = Self.shortIPv4(dotted) {
            prefix = short
        } else if text.contains(":") {
            prefix = Self.shortIPv6(text)
        } else {
            prefix = text
        }
    }

    /// For callers inside the process.
    public static let local = SourceAddress("local")

    public var description: String { prefix }

    private static func shortIPv4(_ text: some StringProtocol) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) else { return nil }
        return parts.prefix(3).joined(separator: ".") + ".0/24"
    }

    private static func shortIPv6(_ text: String) -> String {
        let bare = text.prefix { $0 != "%" }
        let halves = bare.lowercased().split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        var groups = halves[0].split(separator: ":").map { UInt16($0, radix: 16) ?? 0 }
        let tail = halves.count > 1 ? halves[1].split(separator: ":").map { UInt16($0, radix: 16) ?? 0 } : []
        if halves.count > 1, groups.count + tail.count < 8 {
            groups += Array(repeating: 0, count: 8 - groups.count - tail.count)
        }
        groups += tail
        groups += Array(repeating: 0, count: max(0, 4 - groups.count))
        return groups.prefix(4).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }
}
