import Foundation

/// The packages that a build of the server holds: a list in the repository, because commit ids differ between mirrors and
/// `Package.resolved` therefore stays out of it.
public struct PackageList: Sendable {
    /// One package.
    public struct Entry: Hashable, Sendable {
        /// The name as SwiftPM's identity, in lower case.
        public var name: String
        public var version: String
        /// An SPDX expression.
        public var licence: String
        public var address: String

        var isUnresolved: Bool { [PackageList.toolchain, PackageList.system].contains(version) }
    }

    /// The version of what comes with the toolchain and is not resolved.
    public static let toolchain = "toolchain"
    /// The version of what comes with the system that builds a release: the bill has the real one.
    public static let system = "system"

    public let entries: [Entry]

    /// Reads lines of four fields between tabs; lines that begin with `#` are comments. Throws a `Mistake` that names the line.
    public init(text: String) throws {
        entries = try text.split(separator: "\n").enumerated().filter { !$0.element.hasPrefix("#") }.map { number, line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4, !fields.contains("") else { throw Mistake(line: number + 1) }
            return Entry(name: fields[0], version: fields[1], licence: fields[2], address: fields[3])
        }
    }

    /// A line that has not four fields.
    public struct Mistake: Error, CustomStringConvertible {
        var line: Int
        public var description: String { "line \(line) of the list of packages has not four fields between tabs" }
    }

    /// What SwiftPM has resolved, as far as it is read here.
    private struct Resolved: Decodable {
        struct Pin: Decodable {
            struct State: Decodable { var version: String? }
            var identity: String
            var state: State
        }
        var pins: [Pin]
    }

    /// Where the list and a `Package.resolved` differ.
    public func findings(resolved: Data) throws -> [Finding] {
        let pins = try JSONDecoder().decode(Resolved.self, from: resolved).pins
        let versions = Dictionary(pins.map { ($0.identity, $0.state.version ?? "no version") }) { first, _ in first }
        let listed = entries.filter { !$0.isUnresolved }
        let wrong = listed.compactMap { entry -> Finding? in
            guard let version = versions[entry.name] else { return Finding(entry.name, "is in the list and was not resolved") }
            return version == entry.version
                ? nil : Finding(entry.name, "was resolved at \(version), the list says \(entry.version)")
        }
        let known = Set(listed.map(\.name))
        return wrong
            + versions.keys.filter { !known.contains($0) }.sorted().map { Finding($0, "was resolved and is not in the list") }
    }

    /// Packages that the manifest at `path` asks for without an exact version, or with another one than the list says.
    public func findings(manifest: String, at path: String) -> [Finding] {
        manifest.split(separator: "\n").filter { $0.contains(".package(url:") }.compactMap { line in
            guard let version = line.firstMatch(of: /exact: "([0-9]+\.[0-9]+\.[0-9]+)"/)?.1 else {
                return Finding(path, "asks for no exact version: \(line.trimmingCharacters(in: .whitespaces))")
            }
            let entry = entries.first { line.lowercased().contains("/\($0.name).git\"") }
            guard let entry, entry.version != version else { return nil }
            return Finding(path, "asks for \(entry.name) \(version), the list says \(entry.version)")
        }
    }

    /// The notices that the licences ask for: what each package says of itself, and each licence once. `texts` gives the files of a
    /// package by name. Throws nothing; a package without a licence is a finding.
    public func notices(texts: (Entry) -> [String: String]) -> (text: String, findings: [Finding]) {
        var text = "Clarion holds the work of others. This is what they ask to be said, and under which licences they give it.\n"
        var licences: [(text: String, of: [String])] = []
        var findings: [Finding] = []
        for entry in entries {
            text += "\n\(entry.name) \(entry.version), \(entry.licence), \(entry.address)\n"
            let files = texts(entry)
            for (_, notice) in files.filter({ $0.key.hasPrefix("NOTICE") }).sorted(by: { $0.key < $1.key }) {
                text +=
                    "\n"
                    + notice.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }.joined(separator: "\n")
            }
            guard let licence = files.filter({ $0.key.hasPrefix("LICENSE") }).min(by: { $0.key < $1.key })?.value else {
                if !entry.isUnresolved { findings.append(Finding(entry.name, "has no file with its licence")) }
                continue
            }
            if let index = licences.firstIndex(where: { $0.text == licence }) {
                licences[index].of.append(entry.name)
            } else {
                licences.append((licence, [entry.name]))
            }
        }
        for licence in licences {
            text +=
                "\n\(String(repeating: "=", count: 80))\nThe licence of \(licence.of.joined(separator: ", ")):\n\n\(licence.text)\n"
        }
        return (text, findings)
    }

    /// The list as CycloneDX 1.5 (ECMA-424), for tools that look for known faults of packages. `systemVersion` is that of the packages that
    /// come with the system, as Debian has it.
    public func bill(version: String, systemVersion: String) throws -> Data {
        let components = entries.map { entry -> [String: Any] in
            let licence: [String: Any] =
                entry.licence.contains(" ") ? ["expression": entry.licence] : ["license": ["id": entry.licence]]
            var component: [String: Any] = [
                "type": "library", "name": entry.name, "licenses": [licence],
                "externalReferences": [["type": "website", "url": entry.address]],
            ]
            guard entry.version != Self.toolchain else { return component }
            let isOfSystem = entry.version == Self.system
            component["version"] = isOfSystem ? systemVersion : entry.version
            component["bom-ref"] = entry.name
            component["purl"] =
                isOfSystem
                ? "pkg:deb/debian/\(entry.name)@\(systemVersion.replacing("+", with: "%2B"))"
                : "pkg:swift/\(entry.address.replacing("https://", with: ""))@\(entry.version)"
            return component
        }
        let program: [String: Any] = [
            "type": "application", "name": "clarion", "version": version, "bom-ref": "clarion",
            "licenses": [["license": ["id": "Apache-2.0"]]],
        ]
        let document: [String: Any] = [
            "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": ["component": program],
            "components": components,
        ]
        return try JSONSerialization.data(
            withJSONObject: document, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }
}
