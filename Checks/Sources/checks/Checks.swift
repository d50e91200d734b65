import Foundation
import RepositoryChecks

/// `checks floors|measure ROOT-MANIFEST SERVER-MANIFEST`, `checks size`, `checks text`, `checks lower`, with the paths of the tracked
/// files on standard input, `checks complaints …`, and the commands of `Checks+Packages.swift`. Runs from the root of the repository.
/// Ends with 1 when there is a finding.
@main
enum Checks {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let readsPaths = ["floors", "measure", "size", "text", "lower"].contains(arguments.first)
        let paths = readsPaths ? readPaths() : []
        let findings: [Finding]
        switch arguments.first {
        case "floors": findings = try floors(manifests: Array(arguments.dropFirst()), paths: paths)
        case "measure":
            try measure(manifests: Array(arguments.dropFirst()), paths: paths)
            findings = []
        case "size": findings = sizes(paths)
        case "complaints": findings = try complaints(Array(arguments.dropFirst()))
        case "text": findings = try texts(paths)
        case "lower": findings = try lower(paths)
        case "packages", "notices", "bill": findings = try packages(Array(arguments))
        default:
            print(
                "usage: checks floors MANIFEST… | measure MANIFEST… | size | text | lower, with paths on standard input, or complaints …"
            )
            exit(64)
        }
        for finding in findings { FileHandle.standardError.write(Data("\(finding)\n".utf8)) }
        if !findings.isEmpty { exit(1) }
    }

    private static func floors(manifests: [String], paths: [String]) throws -> [Finding] {
        let page = (try? String(contentsOfFile: "Documentation/Modules.md", encoding: .utf8)) ?? ""
        let check = FloorCheck(plan: .clarion, modulesPage: page)
        let packages = try decode(manifests)
        return FolderCheck(plan: .clarion).findings(in: read(paths.filter { $0.hasSuffix(".swift") }))
            + check.unknownTargets(in: packages)
            + packages.flatMap { package in
                check.findings(in: package) { target in
                    read(paths.filter { $0.hasPrefix(package.root + target.folder + "/") && $0.hasSuffix(".swift") })
                }
            }
    }

    /// Prints the measures of the repository.
    private static func measure(manifests: [String], paths: [String]) throws {
        let glossary = try String(contentsOfFile: VocabularyCheck.glossary, encoding: .utf8)
        let measures = RepositoryMeasures(
            files: read(paths), packages: try decode(manifests), glossary: glossary, plan: .clarion)
        print(measures.table)
    }

    private static func decode(_ manifests: [String]) throws -> [PackageManifest] {
        try manifests.map { try JSONDecoder().decode(PackageManifest.self, from: Data(contentsOf: URL(filePath: $0))) }
    }

    private static func sizes(_ paths: [String]) -> [Finding] {
        let files = read(paths.filter { $0.hasSuffix(".swift") })
        print(SizeCheck().summary(of: files.filter { !$0.path.contains("Tests/") }))
        return SizeCheck().findings(in: files)
    }

    private static func texts(_ paths: [String]) throws -> [Finding] {
        let files = read(paths)
        return try TextCheck().findings(in: files) + LinkCheck().findings(in: files, paths: paths)
            + CitationCheck().findings(in: files) + TypeNameCheck().findings(in: files) + large(paths) + prose(files)
    }

    private static func large(_ paths: [String]) -> [Finding] {
        paths.compactMap { path in
            let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0
            return size > TextCheck.sizeLimit ? Finding(path, "is larger than a megabyte") : nil
        }
    }

    /// The texts among the files; pictures and the like are passed over.
    static func read(_ paths: [String]) -> [SourceFile] {
        paths.compactMap { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
            return SourceFile(path: path, text: text)
        }
    }

    private static func readPaths() -> [String] {
        var paths: [String] = []
        while let line = readLine() { paths.append(line) }
        return paths
    }
}
