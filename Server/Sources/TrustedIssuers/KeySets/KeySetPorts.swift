import RichPushModel

/// Fetches documents of issuers.
public protocol KeySetFetching: Sendable {
    /// Gets the document at an address, with `Accept: application/json` and without any credential.
    ///
    /// The implementation must hold these limits ([RFC 8725 section 3.10](https://www.rfc-editor.org/rfc/rfc8725#section-3.10)):
    /// - over TLS the certificate is checked against the host;
    /// - a redirect to another host, port or scheme is not followed, and its status is returned;
    /// - reading ends with a fault beyond `KeySetLimits.documentBytes`;
    /// - the call ends after `KeySetLimits.fetchTime` at the latest, all redirects included, and when its task is cancelled.
    func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument
}

/// The limits of what is fetched from an issuer.
public enum KeySetLimits {
    /// The most bytes of a document.
    public static let documentBytes = 65_536
    /// The longest time of one fetch.
    public static let fetchTime = Duration.seconds(5)
    /// The shortest and the longest life of a key set, whatever its `Cache-Control` says.
    public static let life = Duration.seconds(300)...Duration.seconds(86_400)
    /// The life of a key set whose answer says nothing of it.
    public static let usualLife = Duration.seconds(3_600)
    /// How long a key set stays in use after its life while no other can be fetched.
    public static let outage = Duration.seconds(86_400)
    /// The shortest time between the beginnings of two fetches of one issuer.
    public static let pause = Duration.seconds(60)
    /// How many callers wait for one fetch. More are asked to come again, so that tokens with invented keys hold no more requests.
    public static let waiters = 256
}

/// What a server answered.
public struct FetchedDocument: Sendable {
    public let status: Int
    /// In the order of the answer; names in any case.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    /// Creates an answer.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// All values of a header, as one list.
    func values(of name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name }.flatMap { $0.value.split(separator: ",") }.map {
            $0.lowercased().filter { $0 != " " && $0 != "\t" }
        }
    }
}

/// Keeps the last good key set of each issuer, for restarts and for the other nodes.
public protocol KeySetStore: Sendable {
    /// The key set that was saved last for an issuer.
    func load(issuer: String) async throws(KeySetFault) -> StoredKeySet?

    /// Saves a key set in place of the last one of its issuer. One that was fetched earlier than the stored one may be dropped.
    func save(_ set: StoredKeySet) async throws(KeySetFault)
}

/// A key set as it is stored. It is checked like a fetched one when it is read again.
public struct StoredKeySet: Hashable, Sendable {
    public let issuer: String
    /// Where it was found by the settings of that time: with others it is not used.
    public let source: String
    public let document: [UInt8]
    public let fetchedAt: Timestamp
    public let life: Duration

    /// Creates a key set.
    public init(issuer: String, source: String, document: [UInt8], fetchedAt: Timestamp, life: Duration) {
        self.issuer = issuer
        self.source = source
        self.document = document
        self.fetchedAt = fetchedAt
        self.life = life
    }
}
