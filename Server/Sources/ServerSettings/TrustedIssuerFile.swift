import TrustedIssuers
import Yams

/// The file that `trusted-issuers` names: a YAML list with one mapping of fields for each issuer. The fields are those of
/// `TrustedIssuer`, but for the key set: `keys-path` names a file with it.
public struct TrustedIssuerFile: Hashable, Sendable {
    /// One issuer as it stands in the file.
    struct Entry: Hashable, Sendable {
        var line: Int?
        var fields: [String: [String]]
    }

    private let path: String
    private let place: String
    private(set) var entries: [Entry] = []
    private(set) var problems: [SettingProblem] = []

    private static let keysPath = "keys-path"
    private static let keysDocument = TrustedIssuer.Field.keysDocument.rawValue

    /// Reads a file; `place` says where the setting stands that names it.
    init(path: String, place: String, text: String, readText: (String) throws -> String) {
        self.path = path
        self.place = place
        do {
            guard let root = try Parser(yaml: text).singleRoot(), let list = root.sequence else {
                complain(line: nil, "the file is not a list of issuers, each of which begins with a dash")
                return
            }
            if list.isEmpty { complain(line: nil, "the list of issuers is empty") }
            for (index, node) in list.enumerated() { add(node, number: index + 1, readText: readText) }
        } catch { complain(line: nil, "the file is not YAML, or a field stands in an entry twice") }
    }

    /// The issuers. Throws every problem of every entry, with its field.
    public func issuers() async throws(SettingsError) -> [TrustedIssuer] {
        var (issuers, problems): ([TrustedIssuer], [SettingProblem]) = ([], problems)
        for (index, entry) in entries.enumerated() {
            do throws(IssuerProblems) {
                issuers.append(try await TrustedIssuer(fields: entry.fields))
            } catch {
                for problem in error.list {
                    let field = problem.field == Self.keysDocument ? Self.keysPath : problem.field
                    problems.append(self.problem(line: entry.line, number: index + 1, "\(field) \(problem.reason)"))
                }
            }
        }
        for name in TrustedIssuer.doubled(in: issuers) {
            problems.append(problem(line: nil, "\(name) stands there twice; each issuer has one entry"))
        }
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        return issuers
    }

    private mutating func add(_ node: Node, number: Int, readText: (String) throws -> String) {
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
            guard name == Self.keysPath else {
                fields[name] = texts
                continue
            }
            do { fields[Self.keysDocument] = try texts.map(readText) } catch {
                complain(line: key.mark?.line, number: number, "\(name) cannot be read: \(error)")
            }
        }
        entries.append(Entry(line: line, fields: fields))
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
            path: path, place: place(of: \.users.trustedIssuers), text: text, readText: system.readText)
        settings.issuers = file
        add(file.problems)
    }
}
