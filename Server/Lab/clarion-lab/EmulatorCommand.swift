import ArgumentParser
import CommandLineSupport
import LabServices
import Logging
import NIOPosix
import RichPushModel
import ServerSettings
import ServiceLifecycle
import SharedAccess
import WebPushEmulation

struct EmulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator",
        abstract: "Run the local APNs, and FCM and a push service for browsers if wanted, for anyone's client.",
        discussion: """
            It writes its certificate authority and a signing key into the folder, and prints how to use them. Its ports and \
            options: clarion emulator run --help; the word run may be left out.
            """,
        subcommands: [EmulatorRunCommand.self, EmulatorCertificateCommand.self], defaultSubcommand: EmulatorRunCommand.self)
}

private struct EmulatorRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Run it; this is the default.")

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port that answers as APNs; 0 for any free one.")
    var port = 2197

    @Option(help: "The port of the channel management; 0 for any free one.")
    var managementPort = 2195

    @Option(help: "A port that answers as production, beside the sandbox; 0 for any free one.")
    var productionPort: Int?

    @Option(help: "The port of production's channel management; 0 for any free one.")
    var productionManagementPort = 2196

    @Option(help: "A port for Web Push, where browsers and their senders meet; 0 for any free one.")
    var webPushPort: Int?

    @Option(help: "A port that answers as FCM, for Android; 0 for any free one.")
    var fcmPort: Int?

    @Flag(help: "FCM also answers to Google's names, for clients that lead them here.")
    var fcmAsGoogle = false

    @Option(help: "The port for simulated phones and administration; 0 for any free one.")
    var adminPort = 2198

    @Option(help: "Where the certificates and the key are written.")
    var directory = ".emulator"

    @Flag(help: "Allows an address beyond this machine. It asks for no password.")
    var open = false

    func validate() throws {
        let ports = [
            port, managementPort, productionPort ?? 0, productionManagementPort, webPushPort ?? 0, fcmPort ?? 0, adminPort,
        ]
        guard ports.allSatisfy((0...65_535).contains) else { throw ValidationError("a port is a number from 0 to 65535") }
        guard open || AddressRange.isLoopback(host: host) else {
            throw ValidationError("\(host) is beyond this machine; add --open if that is meant")
        }
        guard fcmPort != nil || !fcmAsGoogle else { throw ValidationError("--fcm-as-google belongs to --fcm-port") }
    }

    func run() async throws {
        var options = EmulatorOptions(
            address: Settings.Address(host: host, port: port), adminAddress: Settings.Address(host: host, port: adminPort),
            directory: directory)
        options.managementPort = managementPort
        options.productionPort = productionPort
        options.productionManagementPort = productionManagementPort
        let webPush = webPush
        let android = EmulatorFCM(host: host, directory: directory, isOpen: open, standsInForGoogle: fcmAsGoogle)
        let fcmPort = fcmPort
        try await ServiceStart.coded { [options] in
            try await EmulatorService.run(options) {
                Terminal.say($0)
            } beside: { authority, logger in
                var companions: [EmulatorCompanion] = []
                if let fcmPort { companions.append(try await android.start(on: fcmPort, authority, logger)) }
                guard let webPush else { return companions }
                let path = directory + "/web-push.json"
                companions.append(
                    EmulatorCompanion(try EmulatorMemory(of: webPush, at: path, clock: .system, logger: logger)))
                try await start(webPush)
                return companions
            }
        }
        await webPush?.shutdown()
    }

    /// The push service for browsers, if it is asked for.
    private var webPush: LocalWebPush? {
        guard let webPushPort else { return nil }
        let settings = LocalWebPushSettings(host: host, port: webPushPort, allowsRemoteClients: open)
        return LocalWebPush(
            settings: settings, clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "clarion") { _ in SwiftLogNoOpLogHandler() })
    }

    private func start(_ service: LocalWebPush) async throws {
        do {
            let address = try await service.start()
            Terminal.say(
                "Local push service for browsers (not Mozilla's) on \(service.origin), for Firefox ws://\(address.host):\(address.port)/"
            )
        } catch let error as LocalWebPushError { throw ValidationError("--web-push-port: \(error)") }
    }
}

extension LocalWebPush: KeptService {}

private struct EmulatorCertificateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Issue a client certificate that the local APNs accepts.",
        discussion: "Certificate and key go into one PEM file. It opens a local APNs with this folder, and nothing at Apple.")

    @Option(help: "The app.")
    var bundleID: String

    @Option(help: "sandbox or production; repeat it for both, which is also the default.")
    var environment: [String] = []

    @Option(help: "A topic beside the app's own; may be repeated.")
    var topic: [String] = []

    @Option(help: "The folder of the local APNs.")
    var directory = ".emulator"

    @Option(help: "The file to write.")
    var output = "client.pem"

    func run() async throws {
        let environments = environment.isEmpty ? ["sandbox", "production"] : environment
        try await ServiceStart.coded {
            let serialNumber = try EmulatorCertificates.write(
                bundleID: bundleID, environments: environments, furtherTopics: topic, directory: directory, to: output)
            Terminal.say(output)
            Terminal.say("serial number \(serialNumber)")
        }
    }
}
