import TrustedIssuers
import Yams

/// The file that `trusted-issuers` names, a YAML list with one mapping of fields for each issuer, or the one that `console-provider` names,
/// with one mapping. The fields are those of `TrustedIssuer` and `SignInProvider`, but for the key set and the secret: `keys-path` and
/// `client-secret-path` name files with them.
public struct TrustedIssuerFile: Hashable, Sendable {
    /// What a file holds.
    enum Form: Hashable, Sendable {
        case issuers
        case provider
    }

    /// One issuer as it stands in the file.
    struct Entry: Hashable, Sendable {
        var line: Int?
        var fields: [String: [String]]
    }

    private let form: Form
    private let path: String
    private let place: String
    private(set) var entries: [Entry] = []
    private(set) var problems: [SettingProblem] = []

    /// The fields that name a file, and those that its contents become.
    private static let files = [
        "keys-path": TrustedIssuer.Field.keysDocument.rawValue, "client-secret-path": TrustedIssuer.Field.clientSecret.rawValue,
    ]

    /// Reads a file; `place` says where the setting stands that names it.
    init(_ form: Form, path: String, place: String, text: String, readText: (String) throws -> String) {
        self.form = form
        self.path = path
        self.place = place
        do {
            let root = try Parser(yaml: text).singleRoot()
            switch form {
            case .provider where root?.mapping == nil: complain(line: nil, "the file is not a list of fields")
            case .provider: if let root { add(root, number: nil, readText: readText) }
            case .issuers:
                guard let list = root?.sequence else {
                    complain(line: nil, "the file is not a list of issuers, each of which begins with a dash")
                    return
                }
                if list.isEmpty { complain(line: nil, "the list of issuers is empty") }
                for (index, node) in list.enumerated() { add(node, number: index + 1, readText: readText) }
            }
        } catch { complain(line: nil, "the file is not YAML, or a field stands in an entry twice") }
    }

    /// The issuers. Throws every problem of every entry, with its field.
    public func issuers() async throws(SettingsError) -> [TrustedIssuer] {
        var (issuers, problems): ([TrustedIssuer], [SettingProblem]) = ([], problems)
        for (index, entry) in entries.enumerated() {
            do throws(IssuerProblems) {
                issuers.append(try await TrustedIssuer(fields: entry.fields))
            } catch { problems += self.problems(error, of: entry, number: index + 1) }
        }
        for name in TrustedIssuer.doubled(in: issuers) {
            problems.append(problem(line: nil, "\(name) stands there twice; each issuer has one entry"))
        }
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        return issuers
    }

    /// The provider of the console. Throws every problem, with its field.
    public func provider() throws(SettingsError) -> SignInProvider {
        guard let entry = entries.first, problems.isEmpty else { throw SettingsError(problems: problems) }
        do throws(IssuerProblems) { return try SignInProvider(fields: entry.fields) } catch {
            throw SettingsError(problems: problems(error, of: entry, number: nil))
        }
    }

    private func problems(_ found: IssuerProblems, of entry: Entry, number: Int?) -> [SettingProblem] {
        found.list.map { found in
            // Both name fields as the file has them.
            let field = Self.files.first { $0.value == found.field }?.key ?? found.field
            let reason = Self.files.reduce(found.reason) { $0.replacing($1.value, with: $1.key) }
            return problem(line: entry.line, number: number, "\(field) \(reason)")
        }
    }

    private mutating func add(_ node: Node, number: Int?, readText: (String) throws -> String) {
        let line = node.mark?.line
        guard let mapping = node.mapping else { return complain(line: line, number: number, "is not a list of fields") }
        var fields: [String: [String]] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                complain(line: key.mark?.line, number: number, "the name of a field must be a word")
                continue
            }
            guard let texts = Self.texts(of: value) else {
                complain(line: key.mark?.line, number: number, "\(name) must be a text or a list of texts")
                continue
            }
            guard let field = Self.files[name] else {
                fields[name] = texts
                if name == TrustedIssuer.Field.clientSecret.rawValue {
                    complain(line: key.mark?.line, number: number, "\(name) stands in a file that client-secret-path names")
                }
                continue
            }
            do { fields[field] = try texts.map { try Self.line(of: readText($0), for: field) } } catch {
                complain(line: key.mark?.line, number: number, "\(name) cannot be read: \(error)")
            }
        }
        entries.append(Entry(line: line, fields: fields))
    }

    /// A secret without the line break at the end of its file.
    private static func line(of text: String, for field: String) -> String {
        guard field == TrustedIssuer.Field.clientSecret.rawValue, let last = text.lastIndex(where: { !$0.isNewline }) else {
            return text
        }
        return String(text[...last])
    }

    private static func texts(of value: Node) -> [String]? {
        switch value {
        case .scalar(let scalar): [scalar.string]
        case .sequence(let sequence) where sequence.allSatisfy({ $0.scalar != nil }): sequence.compactMap { $0.scalar?.string }
        case .sequence, .mapping, .alias: nil
        }
    }

    private mutating func complain(line: Int?, number: Int? = nil, _ sentence: String) {
        problems.append(problem(line: line, number: number, sentence))
    }

    private func problem(line: Int?, number: Int? = nil, _ sentence: String) -> SettingProblem {
        let entry = number.map { ", issuer \($0)" } ?? ""
        return SettingProblem(place: "\(place): \(path)\(line.map { " line \($0)" } ?? "")\(entry)", sentence: sentence)
    }
}

extension SettingsResolver {
    /// A problem for each part of the file of issuers that cannot be read. Whether the values fit is found out when the issuers are
    /// made of it.
    mutating func checkTrustedIssuers() {
        guard let path = settings.users.trustedIssuers, let text = readText(of: \.users.trustedIssuers) else { return }
        let file = TrustedIssuerFile(
            .issuers, path: path, place: place(of: \.users.trustedIssuers), text: text, readText: system.readText)
        settings.issuers = file
        add(file.problems)
    }

    /// A problem for each part of the file of the console's provider that cannot be read, and when the provider could not lead back.
    mutating func checkConsoleProvider() {
        guard let path = settings.console.provider, let text = readText(of: \.console.provider) else { return }
        if settings.listening.publicURL == nil {
            complain(\.console.provider, "needs public-url, the address to which the provider leads people back")
        }
        let file = TrustedIssuerFile(
            .provider, path: path, place: place(of: \.console.provider), text: text, readText: system.readText)
        settings.consoleProvider = file
        add(file.problems)
    }
}
