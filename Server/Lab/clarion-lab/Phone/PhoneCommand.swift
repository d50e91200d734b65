import ArgumentParser
import CommandLineSupport
import DeviceSimulation
import RichPushDevice
import RichPushModel
import ServerSettings

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

struct PhoneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone", abstract: "A simulated phone in this terminal, for any Clarion server and local APNs.",
        discussion: """
            It runs the real device engine; app and service extension are processes of their own. It is a simulation, not iOS. \
            It prints the steps of each push; commands are read from standard input, `help` lists them. See \
            Documentation/PhoneInATerminal.md.
            """)

    @OptionGroup var server: ServerArguments

    @Option(help: "A file with a sign-in token, in place of --user and the password. See Documentation/OwnAccounts.md.")
    var tokenPath: String?

    @Option(help: "The administration of the local APNs that the server pushes to; see `clarion emulator`.")
    var apns = "http://127.0.0.1:2198"

    @Option(help: "The app's bundle id, which is the server's APNs topic.")
    var topic = "org.clarion.demo"

    @Option(help: "The APNs environment: sandbox or production.")
    var environment = "sandbox"

    @Option(
        help: """
            The phone's name at the local APNs, for it alone. Two phones of one user have two names; without it the user's, or with a \
            token "phone".
            """)
    var device: String?

    @Option(help: "The folder for the phone's state. Without it .phone/ and its name.")
    var directory: String?

    @Option(help: "Also writes the story to this file, a line of JSON for each step.")
    var log: String?

    @Option(help: "The languages of its user, the best first, with commas between: sv-SE,de.")
    var languages = "en"

    @Option(help: "How often per hour a silent push may wake the app; Apple documents 2 or 3. Absent means no limit.")
    var wakesPerHour: Int?

    @Flag(help: "Prints lines of JSON, for programs.")
    var json = false

    func validate() throws {
        guard ["sandbox", "production"].contains(environment) else {
            throw ValidationError("an environment is sandbox or production")
        }
        guard tokenPath == nil || server.user == nil else {
            throw ValidationError("--token-path and --user exclude each other: the token says who signs in")
        }
        if let device, !(1...64).contains(device.utf8.count) || !device.utf8.allSatisfy(Self.isOfName) {
            throw ValidationError("a phone's name has 1 to 64 letters, digits and -")
        }
        guard wakesPerHour.map({ $0 >= 0 }) ?? true else { throw ValidationError("a budget of wakes is 0 or more") }
        guard let url = URL(string: apns), url.host != nil, url.scheme == "http" || url.scheme == "https" else {
            throw ValidationError("\(apns) is not the address of a local APNs, such as http://127.0.0.1:2198")
        }
    }

    func run() async throws {
        let (address, signIn) = try signIn()
        let device = device ?? Self.device(of: signIn)
        let folder = URL(filePath: directory ?? ".phone/" + device).absoluteURL
        let held = try PhoneFolder(folder)
        defer { withExtendedLifetime(held) {} }
        let client = AsyncHTTPTransport.makeClient()
        let result: Result<Void, any Error>
        do {
            let service = RemotePushService(address: environment == "sandbox" ? apns : apns + "/production", client: client)
            let phone = try SimulatedPhone(
                configuration: try configuration(address, device, folder), service: service,
                transport: AsyncHTTPTransport(client: client, clock: .system))
            let session = PhoneSession(phone: phone, signIn: signIn, printer: PhonePrinter(json: json))
            try await check(service, device)
            result = .success(try await session.run())
        } catch { result = .failure(error) }
        try? await client.shutdown()
        try result.get()
    }

    private func signIn() throws -> (address: String, signIn: PhoneSession.SignIn) {
        guard let tokenPath else {
            let (address, user, password) = try server.credentials()
            return (address, .password(user, password))
        }
        let address = try server.serverAddress()
        let text = String(decoding: try ContentInput.read(tokenPath, limit: 10_000), as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1 else { throw InputFault("\(tokenPath) holds no token", .badInput) }
        return (address, .token(SecretText(String(words[0]))))
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte < 128 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
            || byte == UInt8(ascii: "-")
    }

    /// A phone that was given no name is its user's: what a name may not have becomes -.
    private static func device(of signIn: PhoneSession.SignIn) -> String {
        guard case .password(let user, _) = signIn else { return "phone" }
        return String(
            decoding: user.text.lowercased().utf8.map { isOfName($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
    }

    /// Whether there is a local APNs, and whether it knows the app: what is wrong there would show much later, as silence.
    private func check(_ service: RemotePushService, _ device: String) async throws {
        do {
            _ = try await service.register(device: device, topic: topic)
        } catch let fault as RemotePushService.Fault {
            Terminal.note("clarion: \(fault.description)")
            throw fault.isUnreachable ? ExitCode.unreachable : ExitCode.failure
        }
    }

    private func configuration(
        _ address: String, _ device: String, _ folder: URL
    ) throws -> SimulatedPhoneConfiguration {
        guard let backend = URL(string: address) else { throw ValidationError("\(address) is not the address of a server") }
        let app: RichPushConfiguration
        do {
            app = try RichPushConfiguration(backend: backend)
        } catch {
            throw ValidationError("a phone reaches its backend over https, or over http on this machine: \(address) is neither")
        }
        var configuration = SimulatedPhoneConfiguration(
            identity: .init(id: device, name: device, model: "Simulated iPhone"), app: app, bundleID: topic, folder: folder)
        configuration.app.keepsPasswordForSending = true
        configuration.app.offersReply = true
        configuration.app.refreshTask = topic + ".refresh"
        configuration.environment = environment
        configuration.languages = languages.split(separator: ",").map(String.init)
        configuration.backgroundWakesPerHour = wakesPerHour
        // App and extension are further processes of this program.
        configuration.program = OwnExecutable.path
        configuration.eventLog = log.map { URL(filePath: $0) }
        return configuration
    }
}

/// The folder of a phone in a terminal, held by one process: two phones in one folder would be one phone with two users.
///
/// The lock ends with the process, however it ends.
private final class PhoneFolder: Sendable {
    private static let lockName = "lock"

    private let lock: Int32

    /// Makes the folder if there is none, and takes it. Throws `InputFault` when another phone has it or it cannot be written.
    init(_ folder: URL) throws {
        let path = folder.path
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw InputFault("\(path) cannot be made", .cannotCreate)
        }
        let descriptor = open(path + "/" + Self.lockName, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw InputFault("\(path) cannot be written", .cannotCreate) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw InputFault(
                "\(path) is in use by another `clarion phone`; a second phone has another --device or --directory", .cannotCreate)
        }
        lock = descriptor
    }

    deinit {
        // A program that is being started at this moment may have the file open for an instant longer.
        flock(lock, LOCK_UN)
        close(lock)
    }
}
