import APNsHTTP2
import APNsProtocol
import Logging
import NIOPosix
import RichPushModel
import ServerDelivery
import ServerSettings
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Doctor {
    static func credentialCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("signing key") {
            guard let credential = settings.apns.credential else {
                return .notice(
                    "there is none, so nothing can be pushed", mend: "set apns-topic, apns-team-id, apns-key-id and apns-key-path"
                )
            }
            return .notice(
                "key \(credential.keyID) of team \(credential.teamID) for \(credential.topic) is a P-256 key; APNs was not asked",
                mend: "clarion doctor --apns asks APNs whether it accepts the key")
        }
    }

    /// Asks APNs whether it accepts the key: one silent push to a device token that no device has.
    static func credentialTrial(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("signing key") {
            guard let credential = settings.apns.credential else {
                return .notice(
                    "there is none, so nothing can be tried", mend: "set apns-topic, apns-team-id, apns-key-id and apns-key-path")
            }
            do {
                let outcome = try await answer(to: credential, settings)
                return words(about: outcome, credential, settings.apns.environment)
            } catch {
                return .bad(
                    (error as? ServiceError)?.detail ?? "the client of APNs cannot be made",
                    mend: "correct apns-key-path and the settings beside it")
            }
        }
    }

    private static func answer(to credential: Settings.Credential, _ settings: Settings) async throws -> APNsOutcome? {
        var settings = settings
        settings.pushDeadline = .seconds(30)
        let maker = APNsClientMaker(
            forCommand: settings, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        let client = try maker.client(credential, settings.apns.environment)
        var random = SystemRandomNumberGenerator()
        let token = (0..<8).map { _ in String(random.next(upperBound: UInt32.max), radix: 16).leftPadded(to: 8) }.joined()
        let push = APNsPush(
            deviceToken: token,
            headers: APNsPush.Headers(topic: credential.topic, pushType: .background, priority: 5, expiration: 0),
            payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
        let outcome = await client.send([push], lane: .express).first
        await client.shutdown(within: .seconds(1))
        return outcome
    }

    private static func words(
        about outcome: APNsOutcome?, _ credential: Settings.Credential, _ environment: APNsEnvironment
    ) -> DoctorCheck.Finding {
        let name = "key \(credential.keyID) of team \(credential.teamID)"
        switch outcome {
        case .accepted: return .good("APNs accepts \(name) for \(credential.topic)")
        case .rejected(let rejection): return words(about: rejection, name, credential, environment)
        case .notSent(let failure), .unknown(let failure):
            return .bad(
                "APNs did not say whether it accepts \(name): \(failure.rawValue)",
                mend: "correct what the check of the way to APNs says, then try again")
        case nil: return .bad("APNs was not asked", mend: "try again")
        }
    }

    private static func words(
        about rejection: APNsRejection, _ name: String, _ credential: Settings.Credential, _ environment: APNsEnvironment
    ) -> DoctorCheck.Finding {
        switch rejection.reason {
        case .badDeviceToken, .unregistered, .expiredToken, .deviceTokenNotForTopic:
            return .good("APNs (\(environment.rawValue)) accepts \(name) for \(credential.topic)")
        case .topicDisallowed, .badTopic, .missingTopic:
            return .bad(
                "APNs accepts \(name) and refuses the topic \(credential.topic) (\(rejection.reason))",
                mend: "set apns-topic to the bundle id of an app of team \(credential.teamID)")
        case .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken:
            return .bad(
                "\(name) is not for the environment \(environment.rawValue) (\(rejection.reason))",
                mend: "set apns-environment, or use a key of this environment")
        case .expiredProviderToken:
            return .bad(
                "APNs calls a token expired that was just made (\(rejection.reason))", mend: "set the clock of this machine")
        case .invalidProviderToken, .missingProviderToken:
            return .bad(
                "APNs refuses \(name) (\(rejection.reason))",
                mend: "the .p8 file has to be that of apns-key-id, and the key one of apns-team-id that was not revoked")
        default:
            return .notice(
                "APNs answers \(rejection.status) \(rejection.reason), which says nothing of \(name)", mend: "try again later")
        }
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}
