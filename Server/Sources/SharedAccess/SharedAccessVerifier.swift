import Crypto
import Synchronization
import WireText

/// Verifies tokens and remembers those with a good signature: most clients sign once and use the token for many requests.
///
/// Only the constant part is cached: that the signature fits the keys it was checked with. Expiry, host and path are checked for each
/// request; a changed rule or key gives another list of rules, for which the signature is verified again. A token without a valid
/// signature is never cached, so a client without a key cannot fill the cache. Tokens are found by their digests, which are compared
/// in constant time, so that the time of a look-up reveals nothing about the tokens of others.
public final class SharedAccessVerifier: Sendable {
    /// The most tokens that are remembered.
    public static let capacity = 1_024
    /// Longer tokens are not remembered: their audience is the address of one request.
    public static let maximumLength = 1_024
    /// Against so many lists of rules a token's result is kept: those of all hubs, and those of some hubs.
    private static let listLimit = 4

    private struct Known: Sendable {
        let signature: SharedAccessSignature
        let address: SharedAccessAudience?
        var results: [(rules: [AccessRule], grant: AccessGrant?)] = []

        init(_ header: String) throws(SharedAccessFault) {
            signature = try SharedAccessSignature(header: header)
            address = SharedAccessAudience(encoded: signature.audience)
        }
    }

    private let known = Mutex<[SHA256.Digest: Known]>([:])

    /// How many tokens are remembered.
    var count: Int { known.withLock { $0.count } }

    /// Creates a verifier that knows no tokens.
    public init() {}

    /// Decides as `SharedAccessSignature.verify` does.
    public func verify(
        header: String?, for request: SharedAccessRequest, rules: [AccessRule]
    ) -> Result<AccessGrant, SharedAccessFault> {
        guard let header, header.utf8.count <= Self.maximumLength else {
            return SharedAccessSignature.verify(header: header, for: request, rules: rules)
        }
        let name = SHA256.hash(data: Array(header.utf8))
        let token: Known
        do throws(SharedAccessFault) {
            if let found = known.withLock({ $0[name] }) { token = found } else { token = try Known(header) }
        } catch {
            return .failure(error)
        }
        let earlier = token.results.first { $0.rules == rules }
        let grant = earlier.map(\.grant) ?? token.signature.signingGrant(among: rules)
        if earlier == nil, grant != nil || !token.results.isEmpty { remember(name, token, rules, grant) }
        guard let grant else { return .failure(.invalidSignature) }
        return token.signature.admission(of: request, with: grant, address: token.address)
    }

    private func remember(_ name: SHA256.Digest, _ token: Known, _ rules: [AccessRule], _ grant: AccessGrant?) {
        var token = token
        // The oldest goes: that of a hub's former keys, for example.
        if token.results.count >= Self.listLimit { token.results.removeFirst() }
        token.results.append((rules, grant))
        known.withLock { known in
            if known[name] == nil, known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
            known[name] = token
        }
    }
}

/// The address that a token was made for: host and path only. Clients disagree about everything else
/// (Reference/AzureNotificationHubs.md#1-3), so scheme, port, query and fragment do not count.
struct SharedAccessAudience: Hashable, Sendable {
    /// In lower case, without port; an IPv6 address keeps its brackets.
    let host: String
    /// The segments of the path, decoded, in lower case, the empty ones left out.
    let path: [String]

    /// Reads the encoded text of `sr`; `nil` when it is no address with a known scheme and a plain host.
    init?(encoded: some StringProtocol) {
        guard let text = PercentEncoding.decodeVisible(encoded, plusIsBlank: true), let scheme = text.firstRange(of: "://"),
            ["http", "https", "sb"].contains(text[..<scheme.lowerBound].lowercased())
        else { return nil }
        let address = text[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = address.prefix { $0 != "/" }
        guard let host = Self.host(of: authority), let path = Self.segments(of: address[authority.endIndex...]) else {
            return nil
        }
        self.host = host
        self.path = path
    }

    /// Whether the token admits a request: its host is one of the names of this server, its path a segment-wise prefix of the request's.
    func admits(hosts: [String], path requestPath: String) -> Bool {
        guard hosts.contains(where: { Self.host(of: Substring($0)) == host }) else { return false }
        guard !path.isEmpty else { return true }
        guard let request = Self.segments(of: requestPath.prefix { $0 != "?" }) else { return false }
        return request.count >= path.count && zip(path, request).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// The name in front of a port, in lower case; `nil` for what carries a user or is no name.
    static func host(of authority: some StringProtocol) -> String? {
        let text = authority.lowercased()
        guard let name = text.hasPrefix("[") ? address(in: text) : label(in: text) else { return nil }
        let port = text[name.endIndex...]
        guard port.isEmpty || isPort(port.dropFirst(), after: port.first) else { return nil }
        return String(name)
    }

    /// `nil` for a broken escape, for `.` and `..`, and for an escaped slash: nothing here may look like a shorter or another path.
    private static func segments(of path: some StringProtocol) -> [String]? {
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let segment = PercentEncoding.decodeVisible(part)?.lowercased(), segment != ".", segment != "..",
                !segment.utf8.contains(UInt8(ascii: "/")), !segment.utf8.contains(UInt8(ascii: "\\"))
            else { return nil }
            segments.append(segment)
        }
        return segments
    }

    private static func isPort(_ digits: Substring, after separator: Character?) -> Bool {
        separator == ":" && digits.utf8.count <= 5
            && digits.utf8.allSatisfy(\.isASCIIDigit)
    }

    /// An IPv6 address in brackets.
    private static func address(in text: String) -> Substring? {
        guard let end = text.firstIndex(of: "]") else { return nil }
        let inner = text[..<end].dropFirst()
        return !inner.isEmpty && inner.utf8.allSatisfy("0123456789abcdef:.".utf8.contains) ? text[...end] : nil
    }

    private static func label(in text: String) -> Substring? {
        let name = text.prefix { $0 != ":" }
        return !name.isEmpty && name.utf8.allSatisfy("abcdefghijklmnopqrstuvwxyz0123456789-._".utf8.contains) ? name : nil
    }
}
