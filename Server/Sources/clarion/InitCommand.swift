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
            input. Nothing is written before all that was given fits. Root begins a node in /var/lib/clarion with its settings in \
            \(SettingsLoader.standardPath); another user begins one in the current directory. Root works as the owner of the data directory.

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

    func validate() throws {
        guard administrator.map(UserAdministration.isPerson) ?? true else {
            throw ValidationError("--administrator: \(Self.nameRule)")
        }
        do throws(ServiceError) { try UserAdministration.check(keyRequest) } catch {
            throw ValidationError("--key: \(error.sentence)")
        }
    }

    private var keyRequest: ServiceKeyRequest { ServiceKeyRequest(name: key, scopes: ["send", "status"]) }

    func run() async throws {
        let isRoot = geteuid() == 0
        let environment = ProcessInfo.processInfo.environment
        let standard = isRoot ? SettingsLoader.standardPath : "clarion.yaml"
        let file = NewSettingsFile(path: Self.absolute(path ?? environment["CLARION_CONFIG"] ?? standard))
        try file.requireNone()
        let first = try first(isRoot: isRoot, environment)
        let users = UserAdministration(settings: first.settings)
        let name = try administrator ?? Self.askName()
        Terminal.note("The password of the administrator \(name), of \(users.minimumPasswordLength) characters or more")
        let password = try Terminal.askNewPassword { try users.check($0, of: name) }

        // All that was typed fits by now. The file gets its name last: until then the command can be repeated.
        let owner = try NodeOwner(ofDataDirectory: first.settings.dataDirectory)
        try file.write(first.text, readableBy: owner)
        let made: ServiceKeyAnswer
        do {
            made = try await NodeOwner.acting(as: owner) {
                try await users.begin(administrator: name, password: password, key: keyRequest)
            }
        } catch {
            file.discard()
            throw error
        }
        try show(made, of: name, first, file)
        Terminal.note("What the doctor says:\n")
        try await NodeOwner.acting(as: owner) { try await Self.examine(file.path) }
        print("\nNext: clarion serve --config \(file.path)")
    }

    /// Gives the file its name and prints what was made.
    private func show(
        _ made: ServiceKeyAnswer, of name: UserName, _ first: FirstSettings, _ file: NewSettingsFile
    ) throws {
        print("data           \(first.settings.dataDirectory)")
        print("administrator  \(name)")
        Terminal.say("key \(key)".padding(toLength: max(15, key.count + 5), withPad: " ", startingAt: 0) + (made.key ?? ""))
        try file.publish()
        Terminal.say("settings       \(file.path)")
        Terminal.note("The key is shown once, keep it now.")
        if !first.variables.isEmpty {
            Terminal.note(
                "The server needs these variables too, which are not in the file: \(first.variables.joined(separator: ", "))")
        }
    }

    /// The settings that were given, and the answers to what was not. On a terminal the questions that a problem names are asked again.
    private func first(isRoot: Bool, _ environment: [String: String]) throws -> FirstSettings {
        let open = Terminal.isInteractive ? Self.questions.filter { !isGiven($0.key, environment) } : []
        var (due, answers) = (open, [String: String]())
        while true {
            for (key, question, otherwise) in due { answers[key] = try Terminal.ask("\(question) \(otherwise)") }
            let given = open.compactMap { key, question, _ in
                answers[key].flatMap { $0.isEmpty ? nil : FirstSettings.Answer(for: key, to: question, $0) }
            }
            do throws(SettingsError) {
                return try FirstSettings(
                    arguments: settings, answers: given, environment: environment,
                    directory: FileManager.default.currentDirectoryPath,
                    dataDirectory: isRoot ? "/var/lib/clarion" : Self.absolute("clarion-data"), system: .server)
            } catch {
                Terminal.note("clarion: \(error)")
                due = open.filter { question in error.problems.contains { "\($0)".contains(question.key) } }
                if due.isEmpty { throw ExitCode.badSettings }
            }
        }
    }

    private func isGiven(_ key: String, _ environment: [String: String]) -> Bool {
        settings.contains { $0 == "--\(key)" || $0.hasPrefix("--\(key)=") }
            || environment["CLARION_" + key.uppercased().replacing("-", with: "_")] != nil
    }

    private static let questions: [(key: String, question: String, otherwise: String)] = [
        ("apns-key-path", "Where is the signing key (.p8) from Apple's developer site?", "Empty for later."),
        ("apns-key-id", "The id of that key, 10 characters.", "Empty for later."),
        ("apns-team-id", "The id of your team, 10 characters.", "Empty for later."),
        ("apns-topic", "The bundle id of your app.", "Empty for later."),
        (
            "tls-certificate-path", "Where is the certificate chain for HTTPS?",
            "Empty when a proxy has it, or for this machine alone."
        ),
        ("tls-key-path", "Where is the private key of that certificate?", "Empty for none."),
        ("tls-listen-port", "The port for HTTPS, such as 8443.", "Empty for none."),
        (
            "public-url", "The address under which phones reach the server, such as https://push.example.com.",
            "Empty for later."
        ),
    ]

    private static let nameRule = "the name of a user has 1 to 64 of A-Z a-z 0-9 _ @ . - and does not begin with @"

    private static func askName() throws -> UserName {
        guard Terminal.isInteractive else {
            throw ValidationError("--administrator: the name of the first administrator is missing")
        }
        return try Terminal.repeating {
            guard let name = UserName(try Terminal.ask("The name of the first administrator:")), UserAdministration.isPerson(name)
            else { throw ValidationError(nameRule) }
            return name
        }
    }

    private static func absolute(_ path: String) -> String {
        URL(filePath: path, relativeTo: URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory))
            .standardized.path
    }

    private static func examine(_ file: String) async throws {
        let doctor = try DoctorCommand.parse(["--config", file])
        // What it finds bad is on the screen. The node is there all the same.
        do { try await doctor.run() } catch is ExitCode {}
    }
}

/// The file of settings that does not exist yet. It gets its name when everything else is done.
private struct NewSettingsFile {
    let path: String

    private var draft: String { path + ".new" }

    func requireNone() throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ValidationError("\(path) exists already; edit it, or name another file with --config")
        }
    }

    /// Writes the draft, which the server may read and not change. Other users may do neither.
    func write(_ text: String, readableBy owner: NodeOwner?) throws {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
            throw ValidationError("the folder \(folder) cannot be made: \(error.localizedDescription)")
        }
        // One that an attempt left.
        discard()
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.fault(draft) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard owner.map({ fchown(descriptor, 0, $0.group) == 0 && fchmod(descriptor, 0o640) == 0 }) ?? true,
            systemWrite(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0
        else { throw Self.fault(draft) }
    }

    /// Gives the draft its name, unless another file has got it meanwhile.
    func publish() throws {
        guard link(draft, path) == 0 else {
            throw ValidationError("\(Self.fault(path).message) The settings are in \(draft).")
        }
        discard()
    }

    func discard() { unlink(draft) }

    private static func fault(_ path: String) -> ValidationError {
        ValidationError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}

/// As whom the server runs, where root begins a node for it: the owner of the data directory, or else the user `clarion` of the package.
private struct NodeOwner {
    let user: uid_t
    let group: gid_t

    /// `nil` where the node belongs to who calls. Makes the data directory, if there is none, in a folder that only root may change.
    init?(ofDataDirectory path: String) throws {
        guard geteuid() == 0 else { return nil }
        var found = stat()
        if stat(path, &found) == 0 {
            (user, group) = (found.st_uid, found.st_gid)
        } else if let account = getpwnam("clarion") {
            (user, group) = (account.pointee.pw_uid, account.pointee.pw_gid)
            try Self.makeFolder(path, user, group)
        } else {
            return nil
        }
        if user == 0 { return nil }
    }

    private static func makeFolder(_ path: String, _ user: uid_t, _ group: gid_t) throws {
        do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
            throw ValidationError("the data directory \(path) cannot be made: \(error.localizedDescription)")
        }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        defer { close(descriptor) }
        guard descriptor >= 0, fchmod(descriptor, 0o700) == 0, fchown(descriptor, user, group) == 0 else {
            throw ValidationError("the data directory \(path) cannot be given to its user: \(String(cString: strerror(errno)))")
        }
    }

    /// Works with the rights of the owner: what the database and the doctor open, they open as the server will.
    static func acting<Result>(as owner: NodeOwner?, _ work: () async throws -> Result) async throws -> Result {
        guard let owner else { return try await work() }
        let name = getpwuid(owner.user).map { String(cString: $0.pointee.pw_name) }
        // The groups first, while this is root.
        guard initgroups(name ?? "", owner.group) == 0, setegid(owner.group) == 0, seteuid(owner.user) == 0 else {
            throw ValidationError("root cannot act as the owner of the data directory: \(String(cString: strerror(errno)))")
        }
        defer {
            seteuid(0)
            setegid(0)
        }
        return try await work()
    }
}

/// The system call, outside the type whose method has the same name.
private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int) -> Int { write(descriptor, bytes, count) }
