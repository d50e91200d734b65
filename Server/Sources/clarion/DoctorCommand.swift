import ArgumentParser
import ClarionServer

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look whether a node can run here, and say how to mend what is wrong.")

    @OptionGroup var arguments: SettingsArguments

    func run() async throws {
        var isSound = true
        for check in Doctor.checks(for: arguments.read()) {
            let finding = await check.look()
            print("\(Self.mark(finding.verdict)) \(check.name): \(finding.found)")
            if let mend = finding.mend { print("      → \(mend)") }
            if finding.verdict == .bad { isSound = false }
        }
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
