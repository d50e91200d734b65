import CryptoExtras
import RichPushModel
import Synchronization
import WireText

/// The service behind the connections. Thread-safe; every decision is made in one visit to the state.
final class FCMServiceCore: Sendable {
    private struct Guarded: Sendable {
        var state: FCMServiceState
        var phones: [String: AsyncStream<AndroidEvent>.Continuation] = [:]
        var observer: AsyncStream<FCMNews>.Continuation?
        var refusesConnections = false
        var isFinished = false
    }

    let settings: LocalFCMSettings
    let clock: any ServiceClock
    private let guarded: Mutex<Guarded>

    init(settings: LocalFCMSettings, clock: any ServiceClock, random: any RandomNumberGenerator & Sendable) {
        (self.settings, self.clock) = (settings, clock)
        guarded = Mutex(Guarded(state: FCMServiceState(settings: settings, random: random)))
    }

    /// Whether connections end as soon as they are there.
    var refusesConnections: Bool {
        get { guarded.withLock { $0.refusesConnections } }
        set { guarded.withLock { $0.refusesConnections = newValue } }
    }

    /// Reads or changes the state. What follows for phones is passed on under the lock, so that it keeps its order.
    func with<Result: Sendable, Failure: Error>(
        _ body: (inout sending FCMServiceState) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try guarded.withLock { guarded throws(Failure) in
            defer {
                for record in guarded.state.events { guarded.phones[record.device]?.yield(record.event) }
                guarded.state.events.removeAll(keepingCapacity: true)
                if let observer = guarded.observer { for news in guarded.state.news { observer.yield(news) } }
                guarded.state.news.removeAll(keepingCapacity: true)
            }
            return try body(&guarded.state)
        }
    }

    func handle(_ request: GoogleRequest) -> FCMCallVerdict {
        let call = FCMCall(request)
        let (now, uptime) = (clock.now, clock.uptime)
        return with { $0.handle(call, now: now, uptime: uptime) }
    }

    /// What happens on a phone from here. A second call takes the place of the first, whose stream ends.
    func events(of device: String) -> AsyncStream<AndroidEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AndroidEvent.self, bufferingPolicy: .bufferingNewest(settings.bounds.phoneEvents))
        let (old, isFinished) = guarded.withLock { guarded in
            (guarded.phones.updateValue(continuation, forKey: device), guarded.isFinished)
        }
        old?.finish()
        if isFinished { continuation.finish() }
        return stream
    }

    /// What happens in the service from here. A second call takes the place of the first, whose stream ends.
    func news() -> AsyncStream<FCMNews> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: FCMNews.self, bufferingPolicy: .bufferingNewest(settings.bounds.phoneEvents))
        let (old, isFinished) = guarded.withLock { guarded in
            defer { guarded.observer = continuation }
            return (guarded.observer, guarded.isFinished)
        }
        old?.finish()
        if isFinished { continuation.finish() }
        return stream
    }

    /// Ends every stream; one that is asked for later ends at once.
    func finish() {
        let (phones, observer) = guarded.withLock { guarded in
            guarded.isFinished = true
            return (Array(guarded.phones.values), guarded.observer)
        }
        for phone in phones { phone.finish() }
        observer?.finish()
    }

    /// Makes a key of a service account and returns its file in Google's form. The key is made outside of the lock: it takes a while.
    func makeKey(project id: String, account name: String, maySend: Bool, tokenURL: String?) throws(LocalFCMError) -> String {
        guard (1...60).contains(name.utf8.count), name.utf8.allSatisfy({ ValueForm.isURLSafe($0) }) else {
            throw .notPossible("a service account has a name of 1 to 60 letters, digits and hyphens")
        }
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { throw .notPossible("no key could be made") }
        let publicKey = key.publicKey
        let (file, email, keyID) = try with { state throws(LocalFCMError) in
            let email = "\(name)@\(id).iam.gserviceaccount.com"
            let keyID = Hexadecimal.text(of: state.randomBytes(20))
            try state.changeProject(id) { project in
                project.accounts[email, default: .init(maySend: maySend)].maySend = maySend
                project.accounts[email]?.keys[keyID] = publicKey
            }
            return (tokenURL ?? state.tokenURL, email, keyID)
        }
        return Self.keyFile(
            project: id, email: email, keyID: keyID, pem: key.pkcs8PEMRepresentation, tokenURL: file)
    }

    /// The members and their order are Google's (Reference/FCM.md#1).
    private static func keyFile(project: String, email: String, keyID: String, pem: String, tokenURL: String) -> String {
        let certificates = "https://www.googleapis.com"
        let members = [
            ("type", "service_account"), ("project_id", project), ("private_key_id", keyID), ("private_key", pem + "\n"),
            ("client_email", email), ("client_id", "100000000000000000000"),
            ("auth_uri", "https://accounts.google.com/o/oauth2/auth"), ("token_uri", tokenURL),
            ("auth_provider_x509_cert_url", certificates + "/oauth2/v1/certs"),
            ("client_x509_cert_url", certificates + "/robot/v1/metadata/x509/" + PercentEncoding.encode(email)),
            ("universe_domain", "googleapis.com"),
        ]
        return JSONText.object(members.map { ($0.0, JSONText.string($0.1)) })
    }
}
