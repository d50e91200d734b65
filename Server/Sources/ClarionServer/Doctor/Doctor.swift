/// The checks of `clarion doctor`, in the order in which they make sense.
public enum Doctor {
    /// The checks for what was read as settings; the later ones need settings that can be used.
    public static func checks(for result: SettingsLoader.Result) -> [DoctorCheck] {
        guard let settings = result.settings else { return [settingsCheck(result)] }
        return [
            settingsCheck(result), dataDirectoryCheck(settings), diskCheck(settings), portCheck(settings),
            credentialCheck(settings),
            publicURLCheck(settings), apnsCheck(settings), databaseFileCheck(settings), databaseCheck(settings),
            databaseSafetyCheck(settings),
            schemaCheck(settings), masterKeyCheck(settings), contentStoreCheck(settings),
            contentOwnerCheck(settings),
        ].compactMap(\.self)
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

    private static func credentialCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("signing key") {
            guard let credential = settings.apns.credential else {
                return .notice(
                    "there is none, so nothing can be pushed", mend: "set apns-topic, apns-team-id, apns-key-id and apns-key-path"
                )
            }
            return .good("key \(credential.keyID) of team \(credential.teamID) for \(credential.topic)")
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
