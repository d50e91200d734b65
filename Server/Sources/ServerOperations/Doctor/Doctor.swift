import ServerSettings

/// The checks of `clarion doctor`, in the order in which they make sense.
public enum Doctor {
    /// The checks for what was read as settings; the later ones need settings that can be used.
    ///
    /// - Parameter asksAPNs: whether the signing key is tried with one push to a device token that no device has.
    public static func checks(for result: SettingsLoader.Result, asksAPNs: Bool = false) -> [DoctorCheck] {
        guard let settings = result.settings else { return [settingsCheck(result)] }
        let checks: [DoctorCheck?] = [
            settingsCheck(result), dataDirectoryCheck(settings), diskCheck(settings), portCheck(settings),
            warningCheck("proxy in front", good: "every caller has an address of its own") { StartWarning.proxy(settings) },
            warningCheck("permissions", good: "data and keys are the server's alone") { StartWarning.permissions(settings) },
            publicURLCheck(settings),
        ]
        let later: [DoctorCheck?] = [
            asksAPNs ? credentialTrial(settings) : credentialCheck(settings), databaseFileCheck(settings),
            databaseCheck(settings), databaseSafetyCheck(settings),
            schemaCheck(settings), masterKeyCheck(settings), contentStoreCheck(settings),
            contentOwnerCheck(settings),
        ]
        return checks.compactMap(\.self) + apnsChecks(settings) + later.compactMap(\.self)
    }

    private static func settingsCheck(_ result: SettingsLoader.Result) -> DoctorCheck {
        DoctorCheck("settings") {
            guard result.problems.isEmpty else {
                let list = result.problems.map { "\n      \($0)" }.joined()
                return .bad("they have problems:\(list)", mend: "see Documentation/Settings.md")
            }
            return .good("\(result.report.changedCount) differ from their defaults; file: \(result.report.file ?? "none")")
        }
    }

    /// What a start warns of.
    private static func warningCheck(
        _ name: String, good: String, _ look: @escaping @Sendable () -> [StartWarning]
    ) -> DoctorCheck {
        DoctorCheck(name) {
            let all = look()
            guard !all.isEmpty else { return .good(good) }
            return .notice(all.map(\.found).joined(separator: "; "), mend: all.map(\.advice).joined(separator: "; "))
        }
    }

    private static func publicURLCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("public address") {
            let listening = settings.listening
            if let url = listening.publicURL { return .good(url) }
            guard AddressRange.isLoopback(host: listening.address.host) else {
                return .notice("public-url is not set, so links begin with \(listening.address.host)", mend: "set public-url")
            }
            return .notice("only this machine reaches the server", mend: "put a TLS proxy in front and set public-url")
        }
    }
}
