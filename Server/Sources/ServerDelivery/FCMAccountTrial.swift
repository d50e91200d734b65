import FCMDelivery
import FCMProtocol
import Logging
import NIOPosix
import RichPushModel
import ServerSettings
import ServiceErrors

/// Asks whether a service account may send: the token endpoint for an access token, then FCM to check a message to a device that does not
/// exist. Nothing is delivered.
package struct FCMAccountTrial: Sendable {
    /// What came of it.
    package enum Finding: Hashable, Sendable {
        /// The private key cannot sign.
        case cannotSign
        /// Why the token endpoint did not answer.
        case noEndpoint(String)
        case noToken(FCMTokenRefusal)
        /// Why FCM did not answer.
        case noAnswer(String)
        /// What FCM makes of the message, and its word for it.
        case answered(FCMAnswer.Disposition, reason: String)
    }

    /// Accounts that are tried at once.
    private static let width = 8
    private static let message = #"{"validate_only":true,"message":{"token":"clarion-doctor","data":{"a":"b"}}}"#

    private let sender: any FCMSending
    private let endpoint: String
    private let clock: any ServiceClock
    /// How long each of the two requests may take.
    private let limit: Duration

    init(_ sender: any FCMSending, endpoint: String, limit: Duration, clock: any ServiceClock) {
        (self.sender, self.endpoint, self.limit, self.clock) = (sender, endpoint, limit, clock)
    }

    /// Tries accounts as a node with these settings would use them. Throws `not-ready` when the certificates of the settings cannot be read.
    package static func findings(
        about accounts: [FCMServiceAccount], _ settings: Settings.FCM
    ) async throws(ServiceError) -> [Finding] {
        let client = try FCMClient(
            settings, clock: SystemClock(), group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        let trial = FCMAccountTrial(client, endpoint: settings.endpoint, limit: .seconds(5), clock: SystemClock())
        let found = await trial.findings(about: accounts)
        await client.shutDown(within: .seconds(1))
        return found
    }

    /// What came of each account, in their order.
    func findings(about accounts: [FCMServiceAccount]) async -> [Finding] {
        await withTaskGroup(of: (Int, Finding).self) { tasks in
            var found = [Finding](repeating: .cannotSign, count: accounts.count)
            for (position, account) in accounts.enumerated() {
                if position >= Self.width, let (done, finding) = await tasks.next() { found[done] = finding }
                tasks.addTask { (position, await look(at: account)) }
            }
            for await (done, finding) in tasks { found[done] = finding }
            return found
        }
    }

    private func look(at account: FCMServiceAccount) async -> Finding {
        guard let request = try? account.tokenRequest(at: clock.now) else { return .cannotSign }
        let authorization: String
        switch await sender.post(request, within: limit) {
        case .notSent(let reason), .unknown(let reason): return .noEndpoint(reason)
        case .answered(let answer):
            do throws(FCMTokenRefusal) { authorization = try answer.accessToken().authorization } catch { return .noToken(error) }
        }
        let message = FCMRequest(
            url: "\(endpoint)/v1/projects/\(account.projectID)/messages:send",
            headers: [("authorization", authorization), ("content-type", "application/json")], body: Array(Self.message.utf8))
        switch await sender.post(message, within: limit) {
        case .notSent(let reason), .unknown(let reason): return .noAnswer(reason)
        case .answered(let answer): return .answered(answer.disposition, reason: answer.reason)
        }
    }
}
