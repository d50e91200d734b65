import CryptoExtras
import RichPushModel
import WireText

extension LocalFCM {
    /// Makes a project known and returns its number. One that is there stays as it is.
    @discardableResult
    public func addProject(_ id: String, number: String? = nil) throws(LocalFCMError) -> String {
        try with { state throws(LocalFCMError) in try state.addProject(id, number: number) }
    }

    /// Changes what a project has switched on.
    public func changeProject(_ id: String, _ change: (inout LocalFCMProjectSettings) -> Void) throws(LocalFCMError) {
        try with { state throws(LocalFCMError) in try state.changeProject(id) { change(&$0.settings) } }
    }

    /// Every project, in the order of their ids.
    public var projects: [LocalFCMProjectStatus] {
        with { state in
            state.projects.values.sorted { $0.id < $1.id }
                .map { LocalFCMProjectStatus(id: $0.id, number: $0.number, settings: $0.settings) }
        }
    }

    /// Makes a key of a service account, and the account if it is not there. Returns the key file in Google's JSON form.
    ///
    /// - Parameter tokenURL: where the holder gets access tokens; `nil` for this service itself.
    public func makeKey(
        project id: String, account name: String = LocalFCMSettings.standardAccount, maySend: Bool = true, tokenURL: String? = nil
    ) throws(LocalFCMError) -> String {
        guard (1...60).contains(name.utf8.count), name.utf8.allSatisfy({ ValueForm.isURLSafe($0) }) else {
            throw .notPossible("a service account has a name of 1 to 60 letters, digits and hyphens")
        }
        // Outside of the lock: it takes a while.
        guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else { throw .notPossible("no key could be made") }
        let (email, publicKey) = ("\(name)@\(id).iam.gserviceaccount.com", key.publicKey.pemRepresentation)
        let (keyID, ownURL) = try with { state throws(LocalFCMError) in
            let keyID = Hexadecimal.text(of: state.random.bytes(20))
            try state.changeProject(id) { project in
                project.accounts[email, default: .init(maySend: maySend)].maySend = maySend
                project.accounts[email]?.keys[keyID] = publicKey
            }
            return (keyID, state.tokenURL)
        }
        let certificates = "https://www.googleapis.com"
        // The members and their order are Google's (Reference/FCM.md#1).
        return JSONText.texts([
            "type": "service_account", "project_id": id, "private_key_id": keyID,
            "private_key": key.pkcs8PEMRepresentation + "\n",
            "client_email": email, "client_id": "100000000000000000000",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURL ?? ownURL,
            "auth_provider_x509_cert_url": certificates + "/oauth2/v1/certs",
            "client_x509_cert_url": certificates + "/robot/v1/metadata/x509/" + PercentEncoding.encode(email),
            "universe_domain": "googleapis.com",
        ])
    }

    /// Revokes every access token of a project, or ends its time.
    public func revokeAccessTokens(of project: String) { with { $0.revokeAccessTokens { $0.project == project } } }
    public func expireAccessTokens(of project: String) { with { $0.expireAccessTokens(of: project) } }

    /// What the service allows.
    public var quotas: LocalFCMQuotas {
        get { with { $0.quotas } }
        set { with { $0.quotas = newValue } }
    }

    /// Installs an app on a device. A device that is there stays as it is.
    public func addDevice(
        _ name: String, project: String, package: String, platform: DevicePlatform = .android
    ) throws(LocalFCMError) -> SimulatedAndroid {
        try with { state throws(LocalFCMError) in
            try state.addDevice(name, project: project, package: package, platform: platform)
        }
        return SimulatedAndroid(name: name, service: self)
    }

    /// A device that is there.
    public func device(_ name: String) -> SimulatedAndroid? {
        with { $0.devices[name] != nil } ? SimulatedAndroid(name: name, service: self) : nil
    }

    /// The first devices whose names contain a text, in the order of their names, at most `limit`; and how many there are.
    public func devices(named text: String = "", limit: Int) -> (first: [AndroidStatus], count: Int) {
        with { state in
            let (names, count) = state.deviceNames(containing: text, limit: limit)
            return (names.compactMap { state.status(of: $0) }, count)
        }
    }

    /// The present moment of the service's clock.
    public var now: Timestamp { clock.now }

    /// Requests, deliveries and what phones did, the newest of each.
    public var recorder: FCMRecorder { with { $0.recorder } }
    /// Forgets what was recorded.
    public func clearRecorder() { with { $0.recorder.clear() } }

    /// Plans a fault for requests that pass every check, behind the faults that wait already. It strikes so many `times`, `after`
    /// so many that it lets pass; or `every` so many requests until the faults are cleared.
    public func inject(
        _ fault: FCMFault, at endpoint: LocalFCMEndpoint = .send, times: Int = 1, after: Int = 0, every: Int? = nil
    ) {
        with { $0.faults.add(fault, at: endpoint, times: times, after: after, every: every) }
    }

    /// The faults that wait, in their order.
    public var plannedFaults: [FCMPlannedFault] { with { $0.faults.entries } }
    /// Forgets the faults that wait.
    public func clearFaults() { with { $0.faults.clear() } }
    /// How many faults wait.
    public var waitingFaults: Int { with { $0.faults.count } }

    /// Grows with every change of `keptState`.
    public var keptRevision: Int { with { $0.keptRevision } }
    /// What the next run needs to know, in an order that does not depend on chance.
    public var keptState: KeptFCM { with { $0.kept } }

    /// Restores the state of an earlier run; call it before `start`. Throws `LocalFCMError`, and has then restored nothing.
    public func restore(_ kept: KeptFCM) throws(LocalFCMError) {
        try with { state throws(LocalFCMError) in
            var restored = state
            try restored.restore(kept)
            state = restored
        }
    }
}
