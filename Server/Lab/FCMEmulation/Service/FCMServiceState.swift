import Crypto
import RichPushModel
import ServiceEmulation
import WireText

/// All that a local FCM knows. It does no I/O: events for phones wait here until the service passes them on.
struct FCMServiceState: Sendable {
    let bounds: LocalFCMBounds
    let clock: any ServiceClock
    var quotas: LocalFCMQuotas
    var tokenLifetime: Duration
    /// What key files name, and what assertions may be for.
    var tokenURL = ""
    var audiences: Set<String> = []
    /// Makes registration tokens, so that one that has died is known from one that never was. A secret.
    var tokenKey: SymmetricKey
    /// Projects by their ids, and the ids by numbers.
    var projects: [String: LocalFCMProject] = [:]
    var numbers: [String: String] = [:]
    /// What came for a project of late.
    var requests: [String: RateWindow] = [:]
    /// Devices by the names that the operator gave; and these by living registration tokens, and by installation ids.
    var devices: [String: AndroidDevice] = [:]
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
    /// What phones and an observer have to hear after this visit.
    var events: [PhoneRecord] = []
    var news: [FCMNews] = []
    /// Grows with every change of what is kept.
    var keptRevision = 0

    var now: Timestamp { clock.now }
    var uptime: Duration { clock.uptime }

    struct TopicName: Hashable, Sendable {
        let project, topic: String
    }

    init(settings: LocalFCMSettings, clock: any ServiceClock, random: any RandomNumberGenerator & Sendable) {
        (bounds, quotas, tokenLifetime) = (settings.bounds, settings.quotas, settings.tokenLifetime)
        (self.clock, self.random) = (clock, random)
        recorder = FCMRecorder(capacity: bounds.recorded)
        tokenKey = SymmetricKey(data: self.random.bytes(32))
        listens(settings, on: settings.port)
    }

    /// The port is known.
    mutating func listens(_ settings: LocalFCMSettings, on port: Int) {
        let own = LocalOrigin.text("https", host: settings.host, port: port) + "/token"
        tokenURL = settings.standsInForGoogle ? LocalFCMSettings.googleTokenURL : own
        audiences = [own, tokenURL]
    }

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
    /// The keys of a service account in PEM; `nil` where no project has it.
    func keys(ofAccount email: String?) -> [String: String]? {
        email.flatMap { email in projects.values.lazy.compactMap { $0.accounts[email] }.first?.keys }
    }

    mutating func issueAccessToken(account: String, scopes: [String]) -> String {
        let token = "ya29.c." + Base64URL.text(of: random.bytes(96))
        let project = projects.values.first { $0.accounts[account] != nil }?.id ?? ""
        if accessTokenOrder.count >= max(1, bounds.accessTokens) { accessTokens[accessTokenOrder.removeFirst()] = nil }
        accessTokenOrder.append(token)
        accessTokens[token] = IssuedAccessToken(
            account: account, project: project, scopes: scopes, expiresAt: now + tokenLifetime)
        return token
    }

    mutating func revokeAccessTokens(where isMeant: (IssuedAccessToken) -> Bool) {
        for (token, entry) in accessTokens where isMeant(entry) { accessTokens[token]?.isRevoked = true }
    }

    mutating func expireAccessTokens(of project: String) {
        let now = now
        for (token, entry) in accessTokens where entry.project == project { accessTokens[token]?.expiresAt = now }
    }
}

extension RandomNumberGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes += $0 } }
        return Array(bytes.prefix(count))
    }
}
