/// Fetches the key set of one issuer.
struct KeySetDownload: Sendable {
    let issuer: String
    let fetching: any KeySetFetching

    struct Result: Sendable {
        var document: [UInt8]
        var life: Duration
    }

    /// Fetches the set that a discovery document names.
    func discovered(at issuerAddress: WebAddress) async throws(KeySetFault) -> Result {
        let root = try await configuration(of: issuerAddress)
        guard let keys = root["jwks_uri"]?.text.flatMap(WebAddress.init), !keys.isLoopback || issuerAddress.isLoopback else {
            throw KeySetFault("the discovery document's jwks_uri is not an https address")
        }
        return try await keySet(at: keys)
    }

    /// Fetches the discovery document.
    func configuration(of issuerAddress: WebAddress) async throws(KeySetFault) -> ClaimValue {
        guard let address = WebAddress(issuerAddress.discoveryAddress) else {
            throw KeySetFault("the issuer's address is too long for discovery")
        }
        let answer = try await document(at: address, called: "the discovery document")
        guard let root = ClaimValue(answer.body), case .object = root else {
            throw KeySetFault("the discovery document is not a JSON object without doubled names")
        }
        // Else a document of another issuer on the same host could bring its keys
        // (OpenID Connect Discovery, section 4.3).
        guard root["issuer"]?.text?.hasSameBytes(as: issuer) == true else {
            throw KeySetFault("the discovery document names another issuer")
        }
        return root
    }

    /// Fetches the set at an address.
    func keySet(at address: WebAddress) async throws(KeySetFault) -> Result {
        let answer = try await document(at: address, called: "the key set")
        return Result(document: answer.body, life: Self.life(of: answer))
    }

    private func document(at address: WebAddress, called name: String) async throws(KeySetFault) -> FetchedDocument {
        let answer = try await fetching.fetch(address)
        guard answer.status == 200 else { throw KeySetFault("\(name) was answered with status \(answer.status)") }
        guard answer.body.count <= KeySetLimits.documentBytes else {
            throw KeySetFault("\(name) has more than \(KeySetLimits.documentBytes) bytes")
        }
        return answer
    }

    /// What `Cache-Control` and `Age` leave ([RFC 9111 section 4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)), within the
    /// limits. `s-maxage` is for shared caches.
    static func life(of answer: FetchedDocument) -> Duration {
        let directives = answer.values(of: "cache-control")
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return KeySetLimits.life.lowerBound }
        let ages = directives.filter { $0.hasPrefix("max-age=") }.map { Int32($0.dropFirst(8).filter { $0 != "\"" }) }
        guard !ages.isEmpty else { return KeySetLimits.usualLife }
        // Of several the shortest counts, and a malformed one is over already.
        let age = answer.values(of: "age").first.flatMap { Int32($0) } ?? 0
        let rest = Int(ages.map { $0 ?? 0 }.min() ?? 0) - Int(max(age, 0))
        return min(max(.seconds(rest), KeySetLimits.life.lowerBound), KeySetLimits.life.upperBound)
    }
}
