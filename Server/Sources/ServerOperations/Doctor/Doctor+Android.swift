import FCMProtocol
import PushHub
import RichPushModel
import ServerDelivery
import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What sends to Android: the way to FCM, the service account of the node, and those of hubs.
extension Doctor {
    private static let question = "clarion doctor --fcm asks Google for an access token, and FCM whether it takes messages"

    static func fcmCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("way to FCM") {
            await way(to: .fcmv1, settings.fcm.account != nil, settings, none: "a service account of Firebase") {
                await routeFinding(settings.fcm)
            }
        }
    }

    private static func routeFinding(_ settings: Settings.FCM) async -> DoctorCheck.Finding {
        guard let path = settings.trustRootsPath else { return await DoctorRoute(settings).finding(.system) }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            return .bad("\(path) cannot be read", remedy: "set fcm-trust-roots-path")
        }
        return await DoctorRoute(settings).finding(.additional(pem: pem))
    }

    /// The account of the node; `nil` when there is none. One that cannot be read is a problem of the settings.
    static func accountCheck(_ settings: Settings, asksFCM: Bool) -> DoctorCheck? {
        guard let account = settings.fcm.account else { return nil }
        return DoctorCheck("service account") {
            let owned = DoctorAccount(account, remedy: "set fcm-key-path to another key of the Firebase console")
            guard asksFCM else { return owned.fault ?? .notice("\(account): Google was not asked", remedy: question) }
            return await findings(about: [owned], settings.fcm).first ?? .bad("it was not tried", remedy: "try again")
        }
    }

    /// The accounts of all hubs that have one of their own.
    static func hubAccountsCheck(_ settings: Settings, asksFCM: Bool) -> DoctorCheck {
        DoctorCheck("service accounts of hubs") {
            let none = DoctorCheck.Finding.good("no hub has one of its own")
            return await finding(settings, remedy: "see what is said of the master key", none: { none }) { database in
                try await opening(database, with: try MasterKeyFile.existing(settings), settings, none: none) { hubs in
                    let records = try await Self.hubs(of: hubs, withCredentialFor: .fcmv1)
                    return records.isEmpty ? none : await finding(about: records, in: hubs, settings.fcm, asksFCM: asksFCM)
                }
            }
        }
    }

    private static func finding(
        about records: [HubRecord], in hubs: HubRegistry, _ settings: Settings.FCM, asksFCM: Bool
    ) async -> DoctorCheck.Finding {
        var accounts: [DoctorAccount] = []
        var found: [DoctorCheck.Finding] = []
        for record in records {
            let remedy = "clarion hub set-fcm \(record.name) --key-path FILE"
            do {
                guard case .fcm(let own)? = try hubs.credential(of: record, for: .fcmv1) else { continue }
                let account = try FCMServiceAccount(own, tokenURL: settings.hubTokenURL)
                accounts.append(DoctorAccount(account, of: record.name, remedy: remedy))
            } catch {
                let reason = (error as? FCMServiceAccountFault)?.description ?? sentence(error)
                found.append(.bad("hub \(record.name): \(reason)", remedy: remedy))
            }
        }
        found += asksFCM ? await findings(about: accounts, settings) : accounts.compactMap(\.fault)
        let names = records.count == 1 ? "that of hub \(records[0].name)" : "those of \(records.count) hubs"
        let sound = DoctorCheck.Finding.notice("\(names): Google was not asked", remedy: question)
        return worst(of: found, orElse: asksFCM ? .good("FCM takes messages of \(names)") : sound)
    }

    private static func findings(about accounts: [DoctorAccount], _ settings: Settings.FCM) async -> [DoctorCheck.Finding] {
        guard !accounts.isEmpty else { return [] }
        do throws(ServiceError) {
            let found = try await FCMAccountTrial.findings(about: accounts.map(\.account), settings)
            return zip(accounts, found).map { account, finding in account.finding(about: finding) }
        } catch {
            return [.bad(error.detail ?? "the client of FCM cannot be made", remedy: "correct the settings that begin with fcm-")]
        }
    }

    /// All that are bad, else all notices, else `sound`. Ten are named.
    private static func worst(of all: [DoctorCheck.Finding], orElse sound: DoctorCheck.Finding) -> DoctorCheck.Finding {
        let bad = all.filter { $0.verdict == .bad }
        let worst = bad.isEmpty ? all.filter { $0.verdict == .notice } : bad
        guard var finding = worst.first else { return sound }
        let named = worst.prefix(10)
        let rest = worst.count > named.count ? ["\(worst.count - named.count) more"] : []
        finding.found = (named.map(\.found) + rest).joined(separator: "; ")
        finding.remedy = named.compactMap(\.remedy).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            .joined(separator: "; ")
        return finding
    }
}

extension DoctorRoute {
    /// The route to FCM, which has no proxy.
    fileprivate init(_ settings: Settings.FCM) {
        (host, port) = (settings.hostOrGoogle, settings.port)
        next = (host, port)
        let isGoogle = settings.host == nil
        remedyForSilence = "let the machine connect out on port \(port); there is no setting for a proxy"
        remedyForClosedPort = isGoogle ? remedyForSilence : "start what should listen there, or correct fcm-port"
        remedyForTLS =
            isGoogle
            ? "a proxy may be breaking TLS open; let the machine connect to Google directly"
            : "set fcm-trust-roots-path to the authority of \(host), and fcm-host to a name in its certificate"
    }
}

/// A service account, and what helps when it is of no use.
struct DoctorAccount {
    let account: FCMServiceAccount
    private let name: String
    private let remedy: String

    /// Without a hub it is the node's.
    init(_ account: FCMServiceAccount, of hub: HubName? = nil, remedy: String) {
        (self.account, self.remedy) = (account, remedy)
        name = hub.map { "hub \($0): \(account)" } ?? "\(account)"
    }

    /// What is wrong without a look at the network.
    var fault: DoctorCheck.Finding? {
        (try? account.assertion(at: SystemClock().now)) == nil ? finding(about: .cannotSign) : nil
    }

    func finding(about finding: FCMAccountTrial.Finding) -> DoctorCheck.Finding {
        switch finding {
        case .cannotSign: .bad("\(name): the private key cannot sign", remedy: remedy)
        case .noEndpoint(let reason):
            .bad(
                "\(name): no access token from \(account.tokenURL): \(reason)",
                remedy: "let the machine connect to it; fcm-trust-roots-path has to vouch for it where it is not Google's")
        case .noToken(let refusal) where !refusal.isForGood: .notice("\(name): \(refusal.reason)", remedy: "try again later")
        case .noToken(let refusal):
            .bad("\(name): \(refusal.reason)", remedy: "set the clock of this machine if it is wrong; otherwise \(remedy)")
        case .noAnswer(let reason):
            .bad(
                "\(name): it has an access token, and FCM did not answer: \(OutcomeReason.words(of: reason))",
                remedy: "correct what the check of the way to FCM says, then try again")
        case .answered(let disposition, let reason): self.finding(about: disposition, reason)
        }
    }

    private func finding(about disposition: FCMAnswer.Disposition, _ reason: String) -> DoctorCheck.Finding {
        switch disposition {
        // The device is none, and that is the only complaint.
        case .accepted, .unregistered, .badTarget, .wrongSender: .good("\(name): FCM takes its messages")
        case .unauthorized:
            .bad(
                "\(name): FCM does not accept its access token (\(reason))",
                remedy: "fcm-host and the token_uri of the key have to belong to one service")
        case .permissionDenied:
            .bad(
                "\(name): FCM does not let it send (\(reason))",
                remedy: "enable the Firebase Cloud Messaging API, and give the account the right cloudmessaging.messages.create")
        case .wrongProject:
            .bad("\(name): FCM does not know the project (\(reason))", remedy: "compare project_id with the Firebase console")
        case .later, .thirdPartyAuth, .refused, .tooLarge:
            .notice("\(name): FCM answers \(reason), which says nothing of the account", remedy: "try again later")
        }
    }
}
