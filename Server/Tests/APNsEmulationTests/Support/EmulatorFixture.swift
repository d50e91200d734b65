import APNsProtocol
import ClarionTesting
import LocalCertificates
import Logging
import NIOPosix
import RichPushModel

@testable import APNsEmulation

/// A local APNs with one app, one key and one device, that judges requests without a socket.
struct EmulatorFixture {
    static let bundleID = "com.example.rich"
    static let device = "alice-phone"
    private static let authority = Result { try LocalCertificateAuthority.create() }

    let clock = ManualClock()
    let signer = ProviderSigner()
    let apns: LocalAPNs
    let token: String
    let authorization: String
    /// A channel of the app that stores nothing.
    let channel: String
    var credentials = ConnectionCredentials()

    init(environment: APNsEnvironment = .sandbox, _ adjust: (inout EmulationRules) -> Void = { _ in }) throws {
        var rules = EmulationRules()
        adjust(&rules)
        let configuration = LocalAPNsConfiguration(
            environment: environment, authority: try Self.authority.get(), rules: rules, randomSeed: 7)
        apns = try LocalAPNs(
            configuration: configuration, clock: clock, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try apns.registerKey(teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM)
        try apns.registerApp(bundleID: Self.bundleID, teamID: signer.teamID, broadcasts: true)
        token = apns.issueToken(device: Self.device, topic: Self.bundleID)
        channel = try apns.createChannel(bundleID: Self.bundleID, policy: .none)
        authorization = signer.authorization(issuedAt: "\(clock.now.seconds)")
    }

    /// A good alert push to the device.
    func head() -> APNsRequest.Head {
        var head = APNsRequest.Head()
        head.add(name: ":method", value: "POST")
        head.add(name: ":path", value: "/3/device/" + token)
        head.add(name: "authorization", value: authorization)
        head.add(name: "apns-topic", value: Self.bundleID)
        head.add(name: "apns-push-type", value: "alert")
        return head
    }

    /// Sends on the fixture's one connection.
    mutating func send(
        body: String = #"{"aps":{"alert":"hi"}}"#, _ change: (inout APNsRequest.Head) -> Void = { _ in }
    ) -> Verdict {
        var head = head()
        change(&head)
        return apns.core.judge(APNsRequest(head: head, body: Array(body.utf8)), credentials: &credentials)
    }

    /// Status and reason in one text, as tables write them.
    static func text(_ verdict: Verdict) -> String {
        guard let answer = verdict.answer else { return "no answer" }
        return answer.reason.map { "\(answer.status) \($0)" } ?? "\(answer.status)"
    }
}
