import AppBackend
import ArgumentParser
import CommandLineSupport
import RichPushModel
import ServerOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Add, list and remove the users of a node, on its database.",
        subcommands: [
            UserAddCommand.self, UserListCommand.self, UserDevicesCommand.self, UserPasswordCommand.self, UserRemoveCommand.self,
            UserSecondFactorCommand.self, UserQuietHoursCommand.self,
            UserExportCommand.self, UserEraseCommand.self,
        ])
}

extension UserRole: ExpressibleByArgument {
    /// The roles of persons: service accounts come with their keys.
    public init?(argument: String) {
        guard let role = UserRole(rawValue: argument), UserRole.ofPersons.contains(role) else { return nil }
        self = role
    }

    public static var allValueStrings: [String] { UserRole.ofPersons.map(\.rawValue) }
}

private struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a user. The password is asked for, or read from standard input.")

    @Argument(help: "1 to 64 of A-Z a-z 0-9 _ @ . -, unique without regard to case.")
    var name: UserName

    @Option(help: "user sends to themselves only; sender to any audience; admin manages users and keys as well; auditor reads.")
    var role: UserRole = .user

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        try users.requireNode()
        try await users.add(name, password: Terminal.askNewPassword { try users.check($0, of: name) }, role: role)
        print("added \(name)")
    }
}

private struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the users and their roles.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    private struct Entry: Encodable {
        var name: String
        var role: String
    }

    func run() async throws {
        let users = try await node.users().list()
        if json { return print(try JSONOutput.text(of: users.map { Entry(name: $0.name.text, role: $0.role.rawValue) })) }
        for user in users {
            print("\(user.name) \(user.role.rawValue)")
        }
    }
}

private struct UserDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "List the devices on which a user is signed in, and what each reported about itself.",
        discussion: "A permission that is denied means that the user sees no notification there.")

    @Argument(help: "The user.")
    var name: UserName

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let list = try await node.users().devices(of: name)
        if json {
            print(try JSONOutput.text(of: list))
        } else {
            let columns = ["DEVICE", "TOKEN", "ENVIRONMENT", "APP", "SYSTEM", "PERMISSION", "LANGUAGES", "TIME ZONE", "CAN"]
            print(TextTable(columns: columns, rows: list.devices.map(Self.row)))
            for device in list.takenOver ?? [] {
                let time = Date(timeIntervalSince1970: Double(device.takenAt.milliseconds) / 1000).formatted(.iso8601)
                print("\(device.id) was taken over by another user at \(time)")
            }
        }
    }

    private static func row(_ device: DeviceEntry) -> [String] {
        let reported = [
            device.handle, device.environment, device.appVersion, device.systemVersion, device.permission,
            device.languages?.joined(separator: ",") ?? device.locale, device.timeZone,
            device.capabilities?.joined(separator: ","),
        ]
        return [device.id] + reported.map { $0 ?? "-" }
    }
}

private struct UserPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Set a user's password, which signs their devices out.")

    @Argument(help: "The user.")
    var name: UserName

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        try users.requireNode()
        try await users.setPassword(Terminal.askNewPassword { try users.check($0, of: name) }, of: name)
        print("changed the password of \(name)")
    }
}

private struct UserSecondFactorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove-second-factor",
        abstract: "Remove the second factor of a user who has lost the phone and the recovery codes.")

    @Argument(help: "The user.")
    var name: UserName

    @OptionGroup var node: NodeArguments

    func run() async throws {
        try await node.users().removeSecondFactor(of: name)
        print("removed the second factor of \(name); `clarion console link` lets them in to set up another")
    }
}

private struct UserQuietHoursCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiet-hours",
        abstract: "Set the hours in which a user's devices get no new notification, where the setting user-quiet-hours is on.")

    @Argument(help: "The user.")
    var name: UserName

    @Argument(help: "Such as 22:00-07:00, in half hours, or none.")
    var hours: String

    @OptionGroup var node: NodeArguments

    func run() async throws {
        try await node.users().setQuietHours(hours, of: name)
        print(hours == "none" ? "\(name) has no quiet hours" : "the quiet hours of \(name) are \(hours)")
    }
}

private struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user and their devices.")

    @Argument(help: "The user.")
    var name: UserName

    @Flag(help: "Do not ask. Needed where standard input is no terminal.")
    var yes = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        if !yes {
            // Throws when there is no such user, so that no question is asked about a typing error.
            let count = try await users.devices(of: name).devices.count
            guard Terminal.isInteractive else {
                throw ValidationError("standard input is no terminal to ask on; add --yes to remove \(name)")
            }
            guard Terminal.confirm("Remove \(name) and \(count) device\(count == 1 ? "" : "s")?") else {
                throw ValidationError("nothing was removed")
            }
        }
        try await users.remove(name)
        print("removed \(name)")
    }
}

private struct UserExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write everything that is stored about a user, one record a line as JSON.")

    @Argument(help: "The user.")
    var name: UserName

    @Option(help: "A new folder for the records and the user's contents. Without it the records go to standard output.")
    var to: String?

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        let folder = try to.map { try ExportFolder(path: $0) }
        try await Terminal.showProgress { progress in
            try await users.export(name, to: folder, progress: progress) { line in
                if let folder { try folder.write(line: line) } else { print(line) }
            }
        }
        if let to { Terminal.note("wrote what is stored about \(name) to \(to)") }
    }
}

private struct UserEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Remove a user with everything that is stored about them and everything they sent. Nothing brings it back.",
        discussion: "Bytes that were stored within the last hour leave the disk when the server sweeps next.")

    @Argument(help: "The user.")
    var name: UserName

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var node: NodeArguments

    func run() async throws {
        let users = try node.users()
        if !yes {
            // Throws when there is no such user, before the confirmation is asked for.
            _ = try await users.devices(of: name)
            Terminal.note("Type the user's name to erase everything about \(name):")
            guard readLine().flatMap({ UserName($0) }) == name else { throw ValidationError("nothing was erased") }
        }
        try await users.erase(name)
        print("erased \(name)")
    }
}
