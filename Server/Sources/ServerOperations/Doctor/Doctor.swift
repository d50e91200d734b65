import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The checks of `clarion doctor`, in the order in which they make sense.
public enum Doctor {
    /// The checks for what was read as settings; the later ones need settings that can be used.
    ///
    /// - Parameters:
    ///   - asksAPNs: whether the signing key is tried with one push to a device token that no device has.
    ///   - asksFCM: whether each service account is tried: with an access token, and with a message that FCM only checks.
    public static func checks(
        for result: SettingsLoader.Result, asksAPNs: Bool = false, asksFCM: Bool = false
    ) -> [DoctorCheck] {
        guard let settings = result.settings else { return [settingsCheck(result)] }
        let machine = [settingsCheck(result), dataDirectoryCheck(settings), diskCheck(settings)] + portChecks(settings)
        let warnings: [DoctorCheck?] = [
            warningCheck("proxy in front", good: "every caller has an address of its own") { StartWarning.proxy(settings) },
            warningCheck("permissions", good: "data and keys are the server's alone") { StartWarning.permissions(settings) },
            publicURLCheck(settings),
            warningCheck("time zones", good: StartWarning.timeZoneData) { StartWarning.timeZones() },
        ]
        let later: [DoctorCheck?] = [
            asksAPNs ? credentialTrial(settings) : credentialCheck(settings), accountCheck(settings, asksFCM: asksFCM),
            browserKeysCheck(settings), databaseFileCheck(settings), databaseCheck(settings), databaseSafetyCheck(settings),
            schemaCheck(settings), masterKeyCheck(settings), hubAccountsCheck(settings, asksFCM: asksFCM),
            contentStoreCheck(settings), contentOwnerCheck(settings), issuersCheck(settings), providerCheck(settings),
        ]
        let ways = apnsChecks(settings) + [fcmCheck(settings), browserWayCheck(settings)]
        return machine + warnings.compactMap(\.self) + ways + later.compactMap(\.self)
    }

    private static func settingsCheck(_ result: SettingsLoader.Result) -> DoctorCheck {
        DoctorCheck("settings") {
            guard result.problems.isEmpty else {
                let list = result.problems.map { "\n      \($0)" }.joined()
                return .bad("they have problems:\(list)", remedy: "see Documentation/Settings.md")
            }
            return .good("\(result.report.changedCount) differ from their defaults; file: \(result.report.file ?? "none")")
        }
    }

    /// Whether the issuers of the settings fit. Their keys are fetched by a running node, whose `/readyz` says how they stand.
    private static func issuersCheck(_ settings: Settings) -> DoctorCheck? {
        guard let file = settings.issuers else { return nil }
        return DoctorCheck("trusted issuers") {
            do throws(SettingsError) {
                let names = try await file.issuers().map(\.issuer)
                return .good("tokens of \(names.joined(separator: ", ")) sign users in")
            } catch { return problems(error, remedy: "see Documentation/OwnAccounts.md") }
        }
    }

    /// Whether the settings of the console's provider fit.
    private static func providerCheck(_ settings: Settings) -> DoctorCheck? {
        guard let file = settings.consoleProvider else { return nil }
        return DoctorCheck("console provider") {
            do throws(SettingsError) {
                let name = try file.provider().issuer.issuer
                return .good("people sign in at \(name), which leads back to \(settings.consoleAddress)/sign-in/return")
            } catch { return problems(error, remedy: "see Documentation/Console.md") }
        }
    }

    private static func problems(_ error: SettingsError, remedy: String) -> DoctorCheck.Finding {
        .bad("they have problems:\(error.problems.map { "\n      \($0)" }.joined())", remedy: remedy)
    }

    /// What a start warns of.
    private static func warningCheck(
        _ name: String, good: String, _ look: @escaping @Sendable () -> [StartWarning]
    ) -> DoctorCheck {
        DoctorCheck(name) {
            let all = look()
            guard !all.isEmpty else { return .good(good) }
            return .notice(all.map(\.found).joined(separator: "; "), remedy: all.map(\.advice).joined(separator: "; "))
        }
    }

    private static func publicURLCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("public address") {
            let listening = settings.listening
            if let url = listening.publicURL { return .good(url) }
            guard AddressRange.isLoopback(host: listening.address.host) else {
                return .notice("public-url is not set, so links begin with \(listening.address.host)", remedy: "set public-url")
            }
            return .notice("only this machine reaches the server", remedy: "put a TLS proxy in front and set public-url")
        }
    }
}

extension Doctor {
    static func dataDirectoryCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("data directory") {
            let path = settings.dataDirectory
            var isDirectory = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
                let parent = nearestExisting(path)
                if let reason = refusal(in: parent) {
                    return .bad(
                        "\(path) is missing, and nothing can be made in \(parent): \(reason)",
                        remedy: "name another data-directory, or mkdir -p \(path) and chown it to the server's user")
                }
                return .good("\(path) will be made at the first start")
            }
            guard isDirectory else { return .bad("\(path) is a file", remedy: "name a folder in data-directory") }
            if let reason = refusal(in: path) {
                return .bad("\(path) cannot be written: \(reason)", remedy: "chown it to the server's user, or repair the disk")
            }
            if let finding = folderFinding(below: path) { return finding }
            return .good(path)
        }
    }

    /// Where a server writes below the data directory. A folder that another user has made there stops a start, or all uploads.
    private static let folders = ["content", "content/objects", "content/incoming", "containers", "containers/incoming"]

    /// The folders that are there and of no use to a server; `nil` when there are none. A start makes those that are missing.
    private static func folderFinding(below path: String) -> DoctorCheck.Finding? {
        let found = folders.map { "\(path)/\($0)" }.compactMap { folder -> String? in
            guard access(folder, F_OK) == 0, let reason = refusal(in: folder) ?? unreadable(folder) else { return nil }
            return "\(folder) cannot be used: \(reason)"
        }
        guard !found.isEmpty else { return nil }
        return .bad(
            found.joined(separator: "; "), remedy: "chown -R \(path) to the server's user, and remove what is no folder there")
    }

    /// Why the names in a folder cannot be read, as a start does.
    private static func unreadable(_ folder: String) -> String? {
        guard let directory = opendir(folder) else { return SystemErrorText.text(errno) }
        closedir(directory)
        return nil
    }

    /// Tries it: permission bits say nothing of read-only disks, quotas, or folders that are none.
    private static func refusal(in directory: String) -> String? {
        let trial = directory + "/.clarion-doctor-" + UUID().uuidString
        guard mkdir(trial, 0o700) == 0, rmdir(trial) == 0 else { return SystemErrorText.text(errno) }
        return nil
    }

    /// A quarter of a million records and their telemetry fit into this; content comes on top.
    private static let leastFreeSpace: Int64 = 1_000_000_000

    static func diskCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("disk") {
            let path = nearestExisting(settings.dataDirectory)
            guard let free = DiskSpace.free(at: path) else {
                return .notice("the free space of \(path) cannot be found", remedy: "df -h \(path)")
            }
            let megabytes = "\(free / 1_000_000) MB free"
            return free < leastFreeSpace
                ? .notice(megabytes, remedy: "make room, or name another data-directory") : .good(megabytes)
        }
    }

    private static func nearestExisting(_ path: String) -> String {
        var path = path
        while path != "/", path != ".", !FileManager.default.fileExists(atPath: path) { path = parent(of: path) }
        return path
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// One thing that `clarion doctor` looks at. It leaves nothing behind.
public struct DoctorCheck: Sendable {
    /// What a check came to.
    public enum Verdict: String, Sendable {
        case good
        /// Works, but the operator should know.
        case notice
        /// The server will not start or will not push.
        case bad
    }

    /// What was found, and what to do about it.
    public struct Finding: Hashable, Sendable {
        public var verdict: Verdict
        /// What was found, as a sentence without secrets.
        public var found: String
        /// How to fix it; absent when nothing is to be done.
        public var remedy: String?

        static func good(_ found: String) -> Finding { Finding(verdict: .good, found: found) }
        static func notice(_ found: String, remedy: String) -> Finding { Finding(verdict: .notice, found: found, remedy: remedy) }
        static func bad(_ found: String, remedy: String) -> Finding { Finding(verdict: .bad, found: found, remedy: remedy) }
    }

    public let name: String
    /// Looks; takes at most a few seconds.
    public let look: @Sendable () async -> Finding

    /// Creates a check.
    init(_ name: String, look: @escaping @Sendable () async -> Finding) {
        self.name = name
        self.look = look
    }
}
