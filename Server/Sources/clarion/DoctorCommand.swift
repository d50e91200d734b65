import ArgumentParser
import ServerOperations

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check whether a node can run here, and say how to fix what is wrong.")

    @Flag(help: "Print JSON when every check is done.")
    var json = false

    @OptionGroup var arguments: SettingsArguments

    private struct Entry: Encodable {
        var name: String
        var verdict: String
        var found: String
        var remedy: String?
    }

    @Flag(help: "Ask APNs whether it accepts the signing key, with one silent push to a device token that no device has.")
    var apns = false

    @Flag(help: "Ask Google for an access token with each service account, and FCM to check a message that it does not deliver.")
    var fcm = false

    func run() async throws {
        var isSound = true
        var entries: [Entry] = []
        for check in Doctor.checks(for: arguments.read(), asksAPNs: apns, asksFCM: fcm) {
            let finding = await check.look()
            if finding.verdict == .bad { isSound = false }
            if json {
                entries.append(
                    Entry(name: check.name, verdict: finding.verdict.rawValue, found: finding.found, remedy: finding.remedy))
                continue
            }
            print("\(Self.mark(finding.verdict)) \(check.name): \(finding.found)")
            if let remedy = finding.remedy { print("      → \(remedy)") }
        }
        if json { print(try JSONOutput.text(of: entries)) }
        if !isSound { throw ExitCode.failure }
    }

    private static func mark(_ verdict: DoctorCheck.Verdict) -> String {
        switch verdict {
        case .good: "  ok "
        case .notice: "note "
        case .bad: " bad "
        }
    }
}
