extension TrustedIssuer {
    /// The fields that settings may have, in the order of the documentation.
    public enum Field: String, CaseIterable, Sendable {
        case issuer = "issuer"
        case audiences = "audiences"
        /// The address of the key set; without it and `keysDocument` the keys are found by discovery.
        case keysAddress = "keys-address"
        /// The contents of the file with the key set.
        case keysDocument = "keys-document"
        case algorithms = "algorithms"
        case userClaim = "user-claim"
        case tagsClaim = "tags-claim"
        case roleClaim = "role-claim"
        /// `value=role`, each.
        case roleValues = "role-values"
        case tokenKind = "token-kind"
        case clients = "clients"
        case leeway = "leeway-seconds"
        case longestLife = "longest-life-seconds"
        case createsUsers = "create-users"
        case adoptsUsers = "adopt-users"
        /// The client as which this server is registered at a provider.
        case client = "client"
        /// The contents of the file with its secret.
        case clientSecret = "client-secret"
        case scopes = "scopes"
        case title = "title"

        /// Those of an issuer whose tokens sign phones in.
        public static let ofIssuers = allCases.filter { ![.client, .clientSecret, .scopes, .title].contains($0) }
        /// Those of a provider at which people sign in to the console.
        public static let ofProviders: [Field] = [
            .issuer, .client, .clientSecret, .algorithms, .scopes, .title, .userClaim, .roleClaim, .roleValues, .createsUsers,
            .adoptsUsers, .leeway,
        ]
    }

    /// Reads the settings of an issuer: the values of each field by its name. Throws every problem that there is.
    public init(fields: [String: [String]]) async throws(IssuerProblems) {
        var reader = IssuerReader(fields, of: "an issuer", TrustedIssuer.Field.ofIssuers)
        let issuer = reader.issuer()
        let algorithms = reader.algorithms()
        let audiences = reader.texts(.audiences)
        if audiences.isEmpty { reader.complain(.audiences, "must have at least one value") }
        let source = reader.keySource(issuer: issuer)
        self.init(
            issuer: issuer ?? "", audiences: audiences, keySource: source ?? .document(""), algorithms: algorithms)
        userClaim = reader.pointer(.userClaim) ?? .subject
        tagsClaim = reader.pointer(.tagsClaim)
        roleClaim = reader.pointer(.roleClaim)
        roleRules = reader.roleRules(TokenRole.ofPhones)
        tokenKind = reader.word(.tokenKind) ?? .any
        clients = reader.texts(.clients)
        leeway = reader.seconds(.leeway, 0...300) ?? leeway
        longestLife = reader.seconds(.longestLife, 60...604_800) ?? longestLife
        createsUsers = reader.flag(.createsUsers) ?? false
        adoptsUsers = reader.flag(.adoptsUsers) ?? false
        if let problem = await reader.problem(ofKeysIn: source, algorithms: algorithms) {
            reader.complain(.keysDocument, problem)
        }
        guard reader.problems.isEmpty else { throw IssuerProblems(list: reader.problems) }
    }

    /// The issuers that stand more than once in a list: each token must have one set of rules.
    public static func doubled(in issuers: [TrustedIssuer]) -> [String] {
        let groups = Dictionary(grouping: issuers) { Array($0.issuer.utf8) }
        return groups.values.filter { $0.count > 1 }.compactMap { $0.first?.issuer }.sorted()
    }
}

/// Reads the fields of an issuer or a provider one by one, and notes every problem.
struct IssuerReader {
    private let fields: [TrustedIssuer.Field: [String]]
    private(set) var problems: [IssuerProblem] = []

    static let maximumText = 512

    /// - Parameter owner: of what the fields are, for problems.
    init(_ given: [String: [String]], of owner: String, _ allowed: [TrustedIssuer.Field]) {
        var fields: [TrustedIssuer.Field: [String]] = [:]
        for (name, values) in given.sorted(by: { $0.key < $1.key }) {
            if let field = TrustedIssuer.Field(rawValue: name), allowed.contains(field) {
                fields[field] = values
            } else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                problems.append(IssuerProblem(field: name, reason: "is not a field of \(owner); these are: \(names)"))
            }
        }
        self.fields = fields
    }

    mutating func complain(_ field: TrustedIssuer.Field, _ reason: String) {
        problems.append(IssuerProblem(field: field.rawValue, reason: reason))
    }

    /// The values of a list, each a text of at most 512 bytes that occurs once.
    mutating func texts(_ field: TrustedIssuer.Field) -> [String] {
        let texts = fields[field] ?? []
        if texts.contains(where: { $0.isEmpty || $0.utf8.count > Self.maximumText }) {
            complain(field, "must have values of 1 to \(Self.maximumText) bytes")
        }
        if Set(texts).count < texts.count { complain(field, "has a value twice") }
        return texts
    }

    /// The value of a field that has one; `nil` when it is absent.
    mutating func text(_ field: TrustedIssuer.Field) -> String? {
        guard let values = fields[field] else { return nil }
        guard values.count == 1, let text = values.first, !text.isEmpty else {
            complain(field, "must have exactly one value")
            return nil
        }
        return text
    }

    mutating func issuer() -> String? {
        guard fields[.issuer] != nil else {
            complain(.issuer, "is missing")
            return nil
        }
        guard let text = text(.issuer) else { return nil }
        guard text.utf8.count <= Self.maximumText, text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            complain(.issuer, "must have at most \(Self.maximumText) bytes without blanks")
            return nil
        }
        return text
    }

    mutating func keySource(issuer: String?) -> TrustedIssuer.KeySource? {
        let address = text(.keysAddress)
        let document = text(.keysDocument)
        switch (address, document) {
        case (_?, _?): complain(.keysDocument, "and keys-address exclude each other")
        case (nil, let document?): return .document(document)
        case (let address?, nil):
            if let address = WebAddress(address) { return .address(address) }
            complain(.keysAddress, "must be an https address (http for this machine only) without user and fragment")
        case (nil, nil):
            guard fields[.keysAddress] == nil, fields[.keysDocument] == nil, let issuer else { return nil }
            if let address = WebAddress(issuer), !address.hasQuery { return .discovery(address) }
            complain(
                .issuer, "must be an https address without query, or keys-address or keys-document must say where its keys are")
        }
        return nil
    }

    mutating func algorithms() -> [SignatureAlgorithm] {
        guard let names = fields[.algorithms], !names.isEmpty else {
            complain(.algorithms, "must name at least one of \(Self.list(SignatureAlgorithm.self))")
            return []
        }
        var algorithms: [SignatureAlgorithm] = []
        for name in names {
            guard let algorithm = SignatureAlgorithm(name: name) else {
                complain(.algorithms, "has \"\(name)\", which is none of \(Self.list(SignatureAlgorithm.self))")
                continue
            }
            if algorithms.contains(algorithm) { complain(.algorithms, "has \(algorithm.rawValue) twice") }
            algorithms.append(algorithm)
        }
        return algorithms
    }

    mutating func pointer(_ field: TrustedIssuer.Field) -> ClaimPointer? {
        guard let text = text(field) else { return nil }
        guard let pointer = ClaimPointer(text) else {
            complain(field, "must be a JSON Pointer such as /sub or /realm_access/roles")
            return nil
        }
        return pointer
    }

    /// - Parameter roles: those that may be given.
    mutating func roleRules(_ roles: [TokenRole]) -> [TrustedIssuer.RoleRule] {
        let texts = texts(.roleValues)
        if texts.isEmpty != (fields[.roleClaim] == nil) { complain(.roleValues, "and role-claim need each other") }
        return texts.compactMap { text in
            // The value may have an equals sign, a role has none.
            guard let mark = text.lastIndex(of: "="), mark > text.startIndex else {
                complain(.roleValues, "has \"\(text)\", which is not value=role")
                return nil
            }
            let name = String(text[text.index(after: mark)...])
            guard let role = TokenRole(rawValue: name), roles.contains(role) else {
                complain(
                    .roleValues,
                    name == "admin"
                        ? "gives the role admin, which no token can give"
                        : "has the role \"\(name)\", which is none of \(roles.map(\.rawValue).joined(separator: ", "))")
                return nil
            }
            return TrustedIssuer.RoleRule(value: String(text[..<mark]), role: role)
        }
    }

    mutating func word<Word: RawRepresentable & CaseIterable>(_ field: TrustedIssuer.Field) -> Word?
    where Word.RawValue == String {
        guard let text = text(field) else { return nil }
        guard let word = Word(rawValue: text) else {
            complain(field, "must be one of \(Self.list(Word.self))")
            return nil
        }
        return word
    }

    mutating func seconds(_ field: TrustedIssuer.Field, _ range: ClosedRange<Int>) -> Duration? {
        guard let text = text(field) else { return nil }
        guard let seconds = Int(text), range.contains(seconds) else {
            complain(field, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return .seconds(seconds)
    }

    mutating func flag(_ field: TrustedIssuer.Field) -> Bool? {
        guard let text = text(field) else { return nil }
        guard let flag = Bool(text) else {
            complain(field, "must be true or false")
            return nil
        }
        return flag
    }

    /// What is wrong with the keys of a file. They change with the settings alone, so a file without a usable key is a mistake.
    func problem(ofKeysIn source: TrustedIssuer.KeySource?, algorithms: [SignatureAlgorithm]) async -> String? {
        guard case .document(let text)? = source, !algorithms.isEmpty else { return nil }
        do throws(KeySetFault) {
            let set = try await KeySet(document: Array(text.utf8), algorithms: algorithms)
            guard set.keys.isEmpty else { return nil }
            let reasons = set.skipped.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", ")
            return "has no usable key" + (reasons.isEmpty ? "" : " (\(reasons))")
        } catch { return "cannot be read: \(error.text)" }
    }

    private static func list<Word: RawRepresentable & CaseIterable>(_ words: Word.Type) -> String where Word.RawValue == String {
        words.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
