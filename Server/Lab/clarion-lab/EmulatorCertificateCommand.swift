import ArgumentParser
import CommandLineSupport
import LabServices

struct EmulatorCertificateCommand: AsyncParsableCommand {
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
        let serialNumber = try EmulatorCertificates.write(
            bundleID: bundleID, environments: environments, furtherTopics: topic, directory: directory, to: output)
        Terminal.say(output)
        Terminal.say("serial number \(serialNumber)")
    }
}
