import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel
import ServerOperations
import ServerSettings
import ServiceErrors

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

/// Begins a node: its settings, its database, its first administrator and its first key.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Begin a node: write its settings, and make its first administrator and key.",
        discussion: """
            On a terminal it asks for what matters and was not given. The administrator's password is asked for, or read from standard \
            input. Nothing is written before every setting fits. Root begins a node in /var/lib/clarion with its settings in \
            \(SettingsLoader.standardPath); another user begins one in the current directory.

            Settings that are given go into the file:
            \(SettingsReference.helpList)
            """)

    @Option(name: .customLong("config"), help: "The file of settings to write; it must not exist yet.")
    var path: String?

    @Option(help: "The name of the first administrator.")
    var administrator: UserName?

    @Option(help: "The name of the first key, with the scopes send and status.")
    var key = "first"

    @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Settings, as --name value.", valueName: "settings"))
    var settings: [String] = []

    func run() async throws {
        let isRoot = geteuid() == 0
        let file = Self.absolute(path ?? (isRoot ? SettingsLoader.standardPath : "clarion.yaml"))
        guard !FileManager.default.fileExists(atPath: file) else {
            throw ValidationError("\(file) exists already; edit it, or name another file with --config")
        }
        let first = try first(isRoot: isRoot)
        let directory = first.settings.dataDirectory
        let users = UserAdministration(settings: first.settings)
        // One without users was left by an attempt that failed.
        if FileManager.default.fileExists(atPath: directory + "/clarion.sqlite"), try await !users.list().isEmpty {
            throw ValidationError("there is a node in \(directory) already; name another place with --data-directory")
        }
        let name = try administrator ?? Self.askName()
        Terminal.note("The password of the administrator \(name), of 12 characters or more")
        let password = try Terminal.askNewPassword()

        // The file comes last: until it is there, the command can be repeated.
        try await users.add(name, password: password, role: .admin)
        let made = try await users.createKey(ServiceKeyRequest(name: key, scopes: ["send", "status"]))
        try Self.create(file, first.text)
        if isRoot { Self.giveAway(directory, and: file) }

        print("settings       \(file)")
        print("data           \(directory)")
        print("administrator  \(name)")
        print("key \(key)".padding(toLength: 15, withPad: " ", startingAt: 0) + (made.key ?? ""))
        Terminal.note("The key is shown once, keep it now. What the doctor says:\n")
        try await Self.examine(file)
        print("\nNext: clarion serve --config \(file)")
    }

    /// The settings that were given, and the answers to what was not.
    private func first(isRoot: Bool) throws -> FirstSettings {
        var arguments = settings
        func isGiven(_ key: String) -> Bool { arguments.contains { $0 == "--\(key)" || $0.hasPrefix("--\(key)=") } }
        if !isGiven("data-directory") {
            arguments += ["--data-directory", isRoot ? "/var/lib/clarion" : Self.absolute("clarion-data")]
        }
        if Terminal.isInteractive {
            for (key, question) in Self.questions where !isGiven(key) {
                Terminal.note(question)
                if let answer = readLine(), !answer.isEmpty { arguments += ["--\(key)", answer] }
            }
        }
        do throws(SettingsError) { return try FirstSettings(arguments: arguments, system: .server) } catch {
            Terminal.note("clarion: \(error)")
            throw ExitCode.badSettings
        }
    }

    private static let questions = [
        ("apns-key-path", "Where is the signing key (.p8) from Apple's developer site? Empty for later."),
        ("apns-key-id", "The id of that key, 10 characters. Empty for later."),
        ("apns-team-id", "The id of your team, 10 characters. Empty for later."),
        ("apns-topic", "The bundle id of your app. Empty for later."),
        (
            "tls-certificate-path",
            "Where is the certificate chain for HTTPS? Empty when a proxy has it, or for this machine alone."
        ),
        ("tls-key-path", "Where is the private key of that certificate? Empty for none."),
        ("tls-listen-port", "The port for HTTPS, such as 8443. Empty for none."),
        ("public-url", "The address under which phones reach the server, such as https://push.example.com. Empty for later."),
    ]

    private static func askName() throws -> UserName {
        guard Terminal.isInteractive else {
            throw ValidationError("--administrator: the name of the first administrator is missing")
        }
        Terminal.note("The name of the first administrator:")
        guard let name = readLine().flatMap({ UserName($0) }) else {
            throw ValidationError("the name of a user has 1 to 64 of A-Z a-z 0-9 _ @ . -")
        }
        return name
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// For its owner alone, since a setting may be a secret.
    private static func create(_ file: String, _ text: String) throws {
        let folder = URL(filePath: file).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw ValidationError("\(file) cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// What root began belongs to the owner of the data directory, as whom the server runs.
    private static func giveAway(_ directory: String, and file: String) {
        var owner = stat()
        guard lstat(directory, &owner) == 0, owner.st_uid != 0 else { return }
        let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        for name in names { lchown("\(directory)/\(name)", owner.st_uid, owner.st_gid) }
        lchown(file, owner.st_uid, owner.st_gid)
    }

    private static func examine(_ file: String) async throws {
        let doctor = try DoctorCommand.parse(["--config", file])
        // What it finds bad is on the screen. The node is there all the same.
        do { try await doctor.run() } catch is ExitCode {}
    }
}
