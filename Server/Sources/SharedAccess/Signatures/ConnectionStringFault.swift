/// What is wrong with a connection string. Nothing of its values is in the words.
public enum ConnectionStringFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part without `=`, a field that comes twice, or a text that is too long.
    case malformed
    /// A field is missing.
    case missing(String)
    case invalidEndpoint
    case invalidKeyName
    case invalidKey
    /// A string of the old access control service, which has issuer and secret.
    case oldCredential

    public var description: String {
        switch self {
        case .malformed: "a connection string is Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…, each field once"
        case .missing(let field): "the connection string has no \(field)"
        case .invalidEndpoint: "Endpoint must be sb://host[:port]/ (http:// only for this machine)"
        case .invalidKeyName: "SharedAccessKeyName must have 1 to 256 characters, none of them a control character or ';'"
        case .invalidKey: "SharedAccessKey must have 1 to 256 printable characters"
        case .oldCredential:
            "connection strings with SharedSecretIssuer are of a retired service; make one with a shared access key"
        }
    }
}
