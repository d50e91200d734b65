import Crypto
import CryptoExtras
import RichPushModel
import WireText

/// All that a local FCM knows. It does no I/O: time comes in, and events for phones go out.
struct FCMServiceState: Sendable {
    let bounds: LocalFCMBounds
    var quotas: LocalFCMQuotas
    var tokenLifetime: Duration
    /// What key files name, and what assertions may be for.
    var tokenURL = ""
    var audiences: Set<String> = []
    /// Makes registration tokens, so that one that has died is known from one that never was. A secret.
    var tokenKey: SymmetricKey
    var projects: [String: LocalFCMProject] = [:]
    /// Projects by their numbers.
    var numbers: [String: String] = [:]
    /// Devices by the names that the operator gave.
    var devices: [String: AndroidDevice] = [:]
    /// Devices by living registration tokens, and by installation ids.
    var tokens: [String: String] = [:]
    var fids: [String: String] = [:]
    /// The names of devices by topic, of each project apart.
    var followers: [TopicName: Set<String>] = [:]
    var loads: [String: DeviceLoad] = [:]
    var accessTokens: [String: IssuedAccessToken] = [:]
    private var accessTokenOrder: [String] = []
    var faults = FCMFaultPlan()
    var recorder: FCMRecorder
    var random: any RandomNumberGenerator & Sendable
    /// What phones have to hear; the core passes it on after each visit.
    var events: [PhoneRecord] = []
    /// What an observer has to hear; the same holds for it.
    var news: [FCMNews] = []
    /// Grows with every change of what is kept.
    var keptRevision = 0

    struct TopicName: Hashable, Sendable {
        let project: String
        let topic: String
    }

    init(settings: LocalFCMSettings, random: any RandomNumberGenerator & Sendable) {
        (bounds, quotas, tokenLifetime) = (settings.bounds, settings.quotas, settings.tokenLifetime)
        self.random = random
        recorder = FCMRecorder(capacity: bounds.recorded)
        // In place of the right key until the generator is there.
        tokenKey = SymmetricKey(data: [UInt8](repeating: 0, count: 32))
        tokenKey = SymmetricKey(data: randomBytes(32))
        listens(at: settings.origin(port: settings.port), standsInForGoogle: settings.standsInForGoogle)
    }

    /// The address is known.
    mutating func listens(at origin: String, standsInForGoogle: Bool) {
        let own = origin + "/token"
        tokenURL = standsInForGoogle ? LocalFCMSettings.googleTokenURL : own
        audiences = [own, tokenURL]
    }

    mutating func randomBytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        return Array(bytes.prefix(count))
    }

    // MARK: Projects and what they may

    mutating func addProject(_ id: String, number: String?) throws(LocalFCMError) -> String {
        if let known = projects[id] {
            guard number ?? known.number == known.number else { throw .notPossible("project \(id) has another number") }
            return known.number
        }
        guard LocalFCMProject.isID(id) else { throw .notPossible("a project id has 4 to 30 small letters, digits and hyphens") }
        guard projects.count < bounds.projects else { throw .notPossible("there are \(projects.count) projects") }
        let digits = number ?? (0..<12).map { "\(Int.random(in: $0 == 0 ? 1...9 : 0...9, using: &random))" }.joined()
        guard (6...19).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isASCIIDigit), numbers[digits] == nil else {
            throw .notPossible("a project number has 6 to 19 digits, and no two projects have the same")
        }
        projects[id] = LocalFCMProject(id: id, number: digits)
        numbers[digits] = id
        keptRevision += 1
        return digits
    }

    mutating func changeProject(_ id: String, _ change: (inout LocalFCMProject) -> Void) throws(LocalFCMError) {
        guard var project = projects[id] else { throw .unknown("project \(id)") }
        change(&project)
        projects[id] = project
        keptRevision += 1
    }

    /// A project by its id or its number.
    func project(_ name: String) -> LocalFCMProject? { projects[name] ?? numbers[name].flatMap { projects[$0] } }

    /// The keys of a service account; `nil` where no project has it.
    func keys(ofAccount email: String?) -> [String: _RSA.Signing.PublicKey]? {
        email.flatMap { email in projects.values.lazy.compactMap { $0.accounts[email] }.first?.keys }
    }

    // MARK: Access tokens

    mutating func issueAccessToken(account: String, scopes: [String], now: Timestamp) -> String {
        let token = "ya29.c." + Base64URL.text(of: randomBytes(96))
        let project = projects.values.first { $0.accounts[account] != nil }?.id ?? ""
        if accessTokenOrder.count >= max(1, bounds.accessTokens) { accessTokens[accessTokenOrder.removeFirst()] = nil }
        accessTokenOrder.append(token)
        accessTokens[token] = IssuedAccessToken(
            account: account, project: project, scopes: scopes, expiresAt: now + tokenLifetime)
        return token
    }

    /// Revokes what a service account got, or what all of a project's got.
    mutating func revokeAccessTokens(where isMeant: (IssuedAccessToken) -> Bool) {
        for (token, entry) in accessTokens where isMeant(entry) { accessTokens[token]?.isRevoked = true }
    }
    mutating func expireAccessTokens(of project: String, now: Timestamp) {
        for (token, entry) in accessTokens where entry.project == project { accessTokens[token]?.expiresAt = now }
    }
}
