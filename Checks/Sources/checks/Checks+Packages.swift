import Foundation
import RepositoryChecks

extension Checks {
    /// `packages LIST RESOLVED MANIFEST…` compares; `notices LIST CHECKOUTS TOOLCHAIN-LICENCE` and `bill LIST VERSION SYSTEM-VERSION` write to standard output.
    static func packages(_ arguments: [String]) throws -> [Finding] {
        guard arguments.count >= 3 else { throw Usage() }
        let list = try PackageList(text: String(contentsOfFile: arguments[1], encoding: .utf8))
        switch arguments[0] {
        case "packages":
            guard arguments.count >= 4 else { throw Usage() }
            return try list.findings(resolved: Data(contentsOf: URL(filePath: arguments[2])))
                + arguments[3...].flatMap { try list.findings(manifest: String(contentsOfFile: $0, encoding: .utf8), at: $0) }
        case "notices":
            guard arguments.count == 4 else { throw Usage() }
            let notices = list.notices { texts(of: $0, in: arguments[2], toolchain: arguments[3]) }
            print(notices.text)
            return notices.findings
        default:
            guard arguments.count == 4 else { throw Usage() }
            print(String(decoding: try list.bill(version: arguments[2], systemVersion: arguments[3]), as: UTF8.self))
            return []
        }
    }

    struct Usage: Error, CustomStringConvertible {
        let description =
            """
            usage: checks packages LIST RESOLVED MANIFEST… | notices LIST CHECKOUTS TOOLCHAIN-LICENCE | bill LIST VERSION SYSTEM-VERSION
            """
    }

    /// The files of a package that speak of licences. SwiftPM names its folder as the address ends.
    private static func texts(of entry: PackageList.Entry, in checkouts: String, toolchain: String) -> [String: String] {
        if entry.version == PackageList.toolchain {
            return (try? String(contentsOfFile: toolchain, encoding: .utf8)).map { ["LICENSE.txt": $0] } ?? [:]
        }
        let folder = checkouts + "/" + (entry.address.split(separator: "/").last.map(String.init) ?? entry.name)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let texts = names.filter { $0.hasPrefix("LICENSE") || $0.hasPrefix("NOTICE") }.compactMap { name in
            (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)).map { (name, $0) }
        }
        return Dictionary(uniqueKeysWithValues: texts)
    }
}
