/// The usable keys of an issuer's key set ([RFC 7517 section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5)).
struct KeySet: Sendable {
    let keys: [VerificationKey]
    /// How many entries are not used, by reason.
    let skipped: [KeyEntryFault: Int]
    /// By the bytes of the `kid`.
    private let byID: [[UInt8]: VerificationKey]

    /// A document may have this many entries: with more a token without `kid` and a renewal would become expensive.
    static let maximumEntries = 100

    /// Reads a document; throws when it is no key set at all. Entries that cannot be used are skipped.
    init(document: [UInt8], algorithms: [SignatureAlgorithm]) async throws(KeySetFault) {
        guard let root = ClaimValue(document), case .list(let entries)? = root["keys"] else {
            throw KeySetFault("the document is not a JSON object with a list in keys")
        }
        guard entries.count <= Self.maximumEntries else {
            throw KeySetFault("the key set has more than \(Self.maximumEntries) entries")
        }
        var keys: [VerificationKey] = []
        var skipped: [KeyEntryFault: Int] = [:]
        let doubled = Self.doubledIDs(entries)
        for entry in entries {
            do throws(KeyEntryFault) {
                let key = try await VerificationKey(entry, algorithms: algorithms)
                guard key.id.map({ !doubled.contains(Array($0.utf8)) }) ?? true else { throw .doubledID }
                keys.append(key)
            } catch { skipped[error, default: 0] += 1 }
        }
        self.keys = keys
        self.skipped = skipped
        byID = keys.reduce(into: [:]) { byID, key in
            if let id = key.id { byID[Array(id.utf8)] = key }
        }
    }

    /// The key of a token; `nil` when the set has none. Without `kid` it must be the only one for the algorithm: to try several would
    /// let a token choose.
    func key(id: String?, algorithm: SignatureAlgorithm) throws(TokenError) -> VerificationKey? {
        if let id {
            guard let key = byID[Array(id.utf8)] else { return nil }
            guard key.algorithm == algorithm else { throw TokenError(.keyMismatch) }
            return key
        }
        let fitting = keys.filter { $0.algorithm == algorithm }
        guard fitting.count <= 1 else { throw TokenError(.ambiguousKey) }
        return fitting.first
    }

    /// The `kid`s of more than one signing key. All of those are left out: which is meant is unknown. A private key counts too, since
    /// its public half is worth nothing any more.
    private static func doubledIDs(_ entries: [ClaimValue]) -> Set<[UInt8]> {
        let ids = entries.filter { $0["use"].map { $0.text == "sig" } ?? true }.compactMap {
            $0["kid"]?.text.map { Array($0.utf8) }
        }
        return Set(Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys)
    }
}

/// Why no key set could be fetched, stored or read: a sentence for an operator.
public struct KeySetFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Creates a fault.
    public init(_ text: String) { self.text = text }

    public var description: String { text }
}
