import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes tokens with one key of one rule (Reference/AzureNotificationHubs.md#1-2). The key is never printed.
public struct SharedAccessSigner: Sendable, Hashable {
    public let ruleName: String
    private let key: SharedAccessKey

    /// Creates a signer.
    public init(ruleName: String, key: SharedAccessKey) {
        self.ruleName = ruleName
        self.key = key
    }

    /// Creates a signer with the key of a connection string.
    public init(_ connection: ConnectionString) { self.init(ruleName: connection.keyName, key: connection.key) }

    /// The value of the `Authorization` header for an address and all below it, in the documented form: lower case, then escaped with
    /// lower-case digits. `audience` is an address such as `https://push.example.test/demo`.
    public func token(audience: String, expiresAt: Timestamp) -> String {
        let encoded = PercentEncoding.encode(audience.lowercased(), uppercase: false)
        let expiry = String(max(0, expiresAt.seconds))
        let code = Data(key.signature(audience: encoded, expiry: expiry)).base64EncodedString()
        let signature = PercentEncoding.encode(code, uppercase: false)
        let name = PercentEncoding.encode(ruleName, uppercase: false)
        return "SharedAccessSignature sr=\(encoded)&sig=\(signature)&se=\(expiry)&skn=\(name)"
    }
}

extension SharedAccessSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "shared access signer \(ruleName) (key not shown)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["ruleName": ruleName]) }
}
