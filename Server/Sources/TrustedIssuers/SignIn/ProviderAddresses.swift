import WireText

/// What a provider's discovery document says about signing in
/// ([OpenID Connect Discovery section 3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata)).
struct ProviderAddresses: Sendable {
    /// How a client with a secret shows it ([RFC 6749 section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)).
    enum ClientAuthentication: String, Sendable {
        case header = "client_secret_basic"
        case form = "client_secret_post"
    }

    let authorization: WebAddress
    let token: WebAddress
    let authentication: ClientAuthentication
    /// Whether each answer names the issuer ([RFC 9207](https://www.rfc-editor.org/rfc/rfc9207#section-3)).
    let namesIssuer: Bool

    /// Reads a discovery document. Throws what is missing.
    init(_ document: ClaimValue, of issuer: WebAddress) throws(KeySetFault) {
        authorization = try Self.address("authorization_endpoint", document, issuer)
        token = try Self.address("token_endpoint", document, issuer)
        let methods = document["token_endpoint_auth_methods_supported"]?.texts ?? [ClientAuthentication.header.rawValue]
        guard let method = [ClientAuthentication.header, .form].first(where: { methods.contains($0.rawValue) }) else {
            throw KeySetFault("the provider takes no secret of a client, neither in a header nor in a form")
        }
        authentication = method
        if case .boolean(true)? = document["authorization_response_iss_parameter_supported"] {
            namesIssuer = true
        } else {
            namesIssuer = false
        }
    }

    private static func address(
        _ name: String, _ document: ClaimValue, _ issuer: WebAddress
    ) throws(KeySetFault) -> WebAddress {
        guard let address = document[name]?.text.flatMap(WebAddress.init), !address.isLoopback || issuer.isLoopback else {
            throw KeySetFault("the discovery document's \(name) is not an https address")
        }
        return address
    }
}

/// A form or a query, with the names and values escaped.
enum FormText {
    static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
