import Foundation
import RepositoryChecks

extension Checks {
    /// `checks complaints list`, `groups`, `filter`, `apply GROUP FOLDER` or `verdict GROUP REPORT…`: the list is right, the groups
    /// in it, a pattern for the tests that it names, the mistakes of a group made in a copy of the repository, and what the tests
    /// of that copy noticed.
    static func complaints(_ arguments: [String]) throws -> [Finding] {
        let check = MistakeCheck(try MistakeList(try read("Checks/complaints.txt")).mistakes)
        switch (arguments.first, arguments.dropFirst().first.flatMap { Int($0) }) {
        case ("list", _): return try listFindings(check)
        case ("groups", _): print(check.groups.map(String.init).joined(separator: " "))
        case ("filter", _): print(check.tests.map { $0.replacingOccurrences(of: ".", with: "/") + "\\(" }.joined(separator: "|"))
        case ("apply", let group?):
            guard let folder = arguments.dropFirst(2).first,
                let files = check.mistaken(group: group, text: { try? read($0) })
            else { return [Finding("group \(group)", "cannot be made here")] }
            for (file, text) in files { try Data(text.utf8).write(to: URL(filePath: folder + "/" + file)) }
        case ("verdict", let group?):
            let reports = try arguments.dropFirst(2).map { TestReport(try read($0)) }
            let failed = reports.reduce(into: Set<String>()) { $0.formUnion($1.failed) }
            let passed = reports.reduce(into: Set<String>()) { $0.formUnion($1.passed) }.subtracting(failed)
            let made = check.mistakes.count { $0.group == group }
            print("group \(group): \(made) mistakes made, \(failed.count) tests failed, \(passed.count) passed")
            return check.verdict(group: group, passed: passed, failed: failed)
        default: exit(64)
        }
        return []
    }

    private static func listFindings(_ check: MistakeCheck) throws -> [Finding] {
        let folders = ["Server/Tests/APNsHTTP2Tests", "Server/Tests/APNsClientIntegrationTests"]
        let tests = folders.flatMap { folder in
            (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
                .filter { $0.hasSuffix(".swift") }.compactMap { try? read(folder + "/" + $0) }
        }
        return check.findings(
            page: try read("Documentation/APNsComplaints.md"), text: { try? read($0) }, tests: tests.joined(separator: "\n"))
    }

    private static func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
