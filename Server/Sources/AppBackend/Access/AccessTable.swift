import RichPushModel
import ServiceErrors

/// One thing that a caller may ask of the app backend: a row of the access table.
public enum BackendOperation: String, Sendable, CaseIterable {
    case registerDevice = "register a device"
    case putInstallation = "register an installation"
    case deleteInstallation = "remove an installation"
    case reportActivities = "report live activities"
    case listDevices = "list devices"
    case readInbox = "read notifications and their contents"
    case markRead = "mark notifications as read"
    case reply = "reply"
    case postReceipts = "post receipts"
    case askForKeys = "ask for keys"
    case storeContent = "store content"
    case send
    case countAudience = "count an audience"
    case readSends = "read the status of a send"
    case explain = "explain what a user got"
    case recall = "recall a send"
    case approve = "approve a send"
    case readTemplates = "read message templates"
    case changeTemplates = "change message templates"
    case readUsers = "read users"
    case changeUsers = "change users"
    case exportUsers = "export a user"
    case mintSignInTokens = "mint sign-in tokens"
    case manageKeys = "manage service keys"
    case manageWebhooks = "manage webhooks"
    case readHubs = "read hubs"
    case changeHubs = "change hubs"
    case manageForeignChannels = "see or remove channels of other servers"
    case readSettings = "read the settings"
    case readAudit = "read the audit"
    case readOneself = "ask who they are"

    /// Without blanks, for the audit and for `GET /api/v1/me`.
    public var name: String { rawValue.replacing(" ", with: "-") }
}

/// How far an operation is granted to a caller.
public enum AccessExtent: Int, Sendable, Comparable, CaseIterable {
    /// Not at all.
    case none
    /// For what belongs to the caller: own devices, own sends, what was sent to them.
    case own
    /// For everything of the app.
    case all

    public static func < (left: AccessExtent, right: AccessExtent) -> Bool { left.rawValue < right.rawValue }
}

/// Who may do what: the only place that decides it. Documentation/Access.md is made from it, and a test asks every route as every
/// kind of caller.
public enum AccessTable {
    /// One operation, with its extent for each kind of caller.
    public struct Row: Sendable {
        public var operation: BackendOperation
        /// For users who sign with a password, by role.
        public var roles: [UserRole: AccessExtent]
        /// For an installation credential, which acts for its user.
        public var installation: AccessExtent
        /// For a token, of an issuer or for one use, which is exchanged for an installation credential.
        public var token: AccessExtent
        /// For a service key with the scope; without any of these scopes the key is refused.
        public var scopes: [ServiceKeyScope.Name: AccessExtent]
    }

    /// In the order of `BackendOperation`.
    public static let rows: [Row] = [
        row(.registerDevice, own, own, own, own),
        row(.putInstallation, own, own, own, own, installation: own, token: own),
        row(.deleteInstallation, own, own, own, own, installation: own, [.devices: all]),
        row(.reportActivities, own, own, own, own, installation: own),
        row(.listDevices, own, own, all, all, [.devices: all]),
        row(.readInbox, own, own, own, own, installation: own),
        row(.markRead, own, own, own, own, installation: own),
        row(.reply, own, own, own, own, installation: own),
        row(.postReceipts, none, none, none, none, installation: own),
        row(.askForKeys, own, all, all, none, [.send: all]),
        row(.storeContent, own, own, own, none, [.send: own]),
        row(.send, own, all, all, none, [.send: all]),
        row(.countAudience, none, all, all, none, [.send: all]),
        row(.readSends, own, own, all, all, [.send: own, .status: all]),
        row(.explain, none, none, all, all, [.status: all]),
        row(.recall, own, own, all, none, [.send: own]),
        row(.approve, none, all, all, none),
        row(.readTemplates, none, all, all, all, [.send: all]),
        row(.changeTemplates, none, all, all, none),
        row(.readUsers, none, none, all, all, [.users: all]),
        row(.changeUsers, none, none, all, none, [.users: all]),
        row(.exportUsers, none, none, all, none, [.users: all]),
        row(.mintSignInTokens, none, none, all, none, [.signIn: all]),
        row(.manageKeys, none, none, all, none),
        row(.manageWebhooks, none, none, all, none),
        row(.readHubs, none, none, all, all, [.hubs: all]),
        row(.changeHubs, none, none, all, none, [.hubs: all]),
        row(.manageForeignChannels, none, none, all, none, [.hubs: all]),
        row(.readSettings, none, none, all, all),
        row(.readAudit, none, none, all, all, [.audit: all]),
        row(.readOneself, own, own, own, own, installation: own, everyScope(own)),
    ]

    /// How far a caller may do something.
    public static func extent(of operation: BackendOperation, for principal: Principal) -> AccessExtent {
        guard let row = byOperation[operation] else { return .none }
        if let key = principal.key { return key.scopes.map { row.scopes[$0.name] ?? .none }.max() ?? .none }
        if principal.token != nil { return row.token }
        if principal.installation != nil { return row.installation }
        return row.roles[principal.role] ?? .none
    }

    /// Whether a token may do something before it is exchanged.
    static func allowsToken(_ operation: BackendOperation) -> Bool { byOperation[operation].map { $0.token != .none } ?? false }

    private static let (none, own, all) = (AccessExtent.none, AccessExtent.own, AccessExtent.all)
    private static let byOperation = Dictionary(uniqueKeysWithValues: rows.map { ($0.operation, $0) })

    private static func row(
        _ operation: BackendOperation, _ user: AccessExtent, _ sender: AccessExtent, _ admin: AccessExtent,
        _ auditor: AccessExtent, installation: AccessExtent = .none, token: AccessExtent = .none,
        _ scopes: [ServiceKeyScope.Name: AccessExtent] = [:]
    ) -> Row {
        // A key with the scope `admin` does all that an administrator does.
        let scopes = scopes.merging(admin == .all ? [.admin: .all] : [:]) { given, _ in given }
        return Row(
            operation: operation, roles: [.user: user, .sender: sender, .admin: admin, .auditor: auditor],
            installation: installation, token: token, scopes: scopes)
    }

    private static func everyScope(_ extent: AccessExtent) -> [ServiceKeyScope.Name: AccessExtent] {
        Dictionary(uniqueKeysWithValues: ServiceKeyScope.Name.allCases.map { ($0, extent) })
    }
}

extension Principal {
    /// How far the caller may do something. Throws `forbidden` with what is missing when they may not at all.
    @discardableResult
    public func require(_ operation: BackendOperation) throws(ServiceError) -> AccessExtent {
        let extent = AccessTable.extent(of: operation, for: self)
        guard extent == .none else { return extent }
        throw ServiceError(.forbidden, refusal(of: operation))
    }

    /// Throws `forbidden` unless the caller may do it for everything of the app.
    public func requireAll(_ operation: BackendOperation) throws(ServiceError) {
        guard try require(operation) == .all else { throw ServiceError(.forbidden, refusal(of: operation)) }
    }

    private func refusal(of operation: BackendOperation) -> String {
        if key != nil {
            let scopes = AccessTable.rows.first { $0.operation == operation }?.scopes.keys.map(\.rawValue).sorted() ?? []
            let needed =
                scopes.isEmpty ? "no service key may do that" : "it needs one of the scopes \(scopes.joined(separator: ", "))"
            return "this service key may not \(operation.rawValue); \(needed)"
        }
        if token != nil { return TokenRefusal.exchange }
        if installation != nil {
            return "an installation credential may not \(operation.rawValue); sign with a password"
        }
        if AccessTable.rows.first(where: { $0.operation == operation })?.roles.values.allSatisfy({ $0 == .none }) == true {
            return "only an installation may \(operation.rawValue); sign with its credential"
        }
        return "your role \(role.rawValue) may not \(operation.rawValue)"
    }
}
