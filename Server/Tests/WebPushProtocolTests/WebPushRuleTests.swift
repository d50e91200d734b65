import ClarionTesting
import RichPushModel
import Testing
import WebPushProtocol

@Suite("To which browsers a server sends")
struct WebPushRuleTests {
    private func fault(_ endpoint: String, _ rule: WebPushRule = WebPushRule()) -> WebPushSubscriptionFault? {
        fault(ofToken: SampleSubscription.token(endpoint), rule)
    }

    private func fault(ofToken token: String, _ rule: WebPushRule = WebPushRule()) -> WebPushSubscriptionFault? {
        do throws(WebPushSubscriptionFault) {
            _ = try rule.subscription(in: token)
            return nil
        } catch { return error }
    }

    @Test(
        "a push service is a host that is named, or one below it",
        arguments: [
            ("https://fcm.googleapis.com/fcm/send/x", true), ("https://updates.push.services.mozilla.com/wpush/v2/x", true),
            ("https://FCM.googleapis.com./x", true), ("https://evil.example/x", false),
            ("https://xfcm.googleapis.com/x", false), ("https://fcm.googleapis.com.evil.example/x", false),
            ("https://googleapis.com/x", false), ("https://10.1/", false), ("https://0x7f.1/", false),
            ("https://2130706433/", false), ("https://localhost.:8443/x", false),
        ])
    func services(endpoint: String, isNamed: Bool) { #expect(fault(endpoint) == (isNamed ? nil : .service)) }

    @Test("the case of the list does not count, nor a dot at the end of a name", arguments: ["Push.Example.net", "example.net."])
    func spellings(host: String) { #expect(fault("https://push.example.net/x", WebPushRule(hosts: [host])) == nil) }

    @Test("networks make no push service of a host that is not named")
    func networks() {
        let rule = WebPushRule(networks: ["127.0.0.0/8"].compactMap { .init($0) })
        for endpoint in ["http://evil.example/x", "http://127.0.0.1/x", "https://0x7f.1/"] {
            #expect(fault(endpoint, rule) == .service, "\(endpoint)")
        }
    }

    @Test("a named host has to be in a place that is allowed", arguments: [true, false])
    func places(isAllowed: Bool) {
        let rule = WebPushRule(
            hosts: ["127.0.0.1"], networks: (isAllowed ? ["127.0.0.0/8"] : ["10.0.0.0/8"]).compactMap { .init($0) })
        guard !isAllowed else {
            #expect(fault("http://127.0.0.1:8080/x", rule) == nil)
            return
        }
        guard case .place(let reason)? = fault("https://127.0.0.1:8080/x", rule) else {
            Issue.record("it is allowed")
            return
        }
        #expect(reason.contains("web-push-networks"))
    }

    @Test("the keys have to be those of a browser")
    func keys() {
        let (endpoint, point) = ("https://fcm.googleapis.com/x", SampleSubscription.publicKey)
        let short = String(SampleSubscription.secret.dropLast(2))
        #expect(fault(ofToken: SampleSubscription.token(endpoint)) == nil)
        #expect(fault(ofToken: SampleSubscription.token(endpoint, "AAAA")) == .publicKey)
        #expect(fault(ofToken: SampleSubscription.token(endpoint, point.dropLast(4) + "AAAA")) == .publicKey)
        #expect(fault(ofToken: SampleSubscription.token(endpoint, point, short)) == .secret)
        #expect(fault(ofToken: "\(endpoint) \(point)") == .form)
        #expect(fault(ofToken: SampleSubscription.token(endpoint) + " more") == .form)
    }

    @Test(
        "every answer of the class 2xx says that the push was taken, and no other one",
        arguments: [
            (200, true), (201, true), (202, true), (204, true), (299, true), (199, false), (300, false), (307, false),
            (400, false),
        ])
    func answers(status: Int, isTaken: Bool) {
        #expect((WebPushAnswer(status: status, now: Timestamp(seconds: 0)).disposition == .accepted) == isTaken)
    }
}
