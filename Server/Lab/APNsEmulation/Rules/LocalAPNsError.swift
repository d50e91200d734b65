/// Why the emulator could not be set up. The texts name what is wrong and hold no secret.
public enum LocalAPNsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host is reachable by other machines and `allowsRemoteClients` is off.
    case notLoopback(host: String)
    /// The address is in use or not of this machine.
    case cannotListen(host: String, port: Int, cause: String)
    case alreadyStarted
    /// A registered key is no P-256 public key.
    case badPublicKey(keyID: String, cause: String)
    /// A private key was offered where a public one belongs: nothing that pretends to be Apple may hold one.
    case privateKeyOffered(keyID: String)
    /// A team or key id is not ten letters and digits.
    case badIdentifier(String)
    /// A bundle id has other characters than letters, digits, dots and hyphens, or is a topic with a suffix.
    case badBundleID(String)
    /// A device token is not an even number of at least 64 hexadecimal digits.
    case badDeviceToken
    /// The token belongs to another device or topic already.
    case deviceTokenTaken
    /// What an earlier run kept cannot be read.
    case badKeptState(String)
    /// This bundle id is not registered.
    case unknownApp(String)
    /// The app has no such channel.
    case unknownChannel(String)
    /// The app has as many channels as the rules allow.
    case tooManyChannels(String)
    /// A client certificate cannot be made as asked, or a text is none.
    case badClientCertificate(cause: String)

    public var description: String {
        switch self {
        case .notLoopback(let host):
            "The local APNs refuses to listen on \(host): other machines could reach it. Allow remote clients if that is meant."
        case .cannotListen(let host, let port, let cause): "The local APNs cannot listen on \(host) port \(port): \(cause)"
        case .alreadyStarted: "The local APNs was started before."
        case .badPublicKey(let keyID, let cause): "The key \(keyID) is no P-256 public key in PEM: \(cause)"
        case .privateKeyOffered(let keyID):
            "The key \(keyID) is a private key. Register its public half; the local APNs never holds a private key."
        case .badIdentifier(let text): "\(text) is no identifier: ten letters and digits are wanted."
        case .badBundleID(let text):
            "\(text.prefix(100)) is no bundle id: letters, digits, dots and hyphens are wanted, without a suffix such as .voip."
        case .badDeviceToken: "A device token is an even number of at least 64 hexadecimal digits."
        case .deviceTokenTaken: "The device token belongs to another device or topic."
        case .badKeptState(let cause): "What an earlier run kept cannot be read: \(cause)."
        case .unknownApp(let bundleID): "No app is registered as \(bundleID.prefix(100))."
        case .unknownChannel(let id): "The app has no channel \(id.prefix(64))."
        case .tooManyChannels(let bundleID): "\(bundleID.prefix(100)) has as many channels as the rules allow."
        case .badClientCertificate(let cause): "The client certificate cannot be made or read: \(cause)"
        }
    }
}
