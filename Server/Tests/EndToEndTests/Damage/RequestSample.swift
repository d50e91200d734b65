import ClarionTesting
import Foundation
import HubProtocol
import RichPushModel

/// A right request to a hub, as some client sends it, to be damaged.
struct RequestSample: Sendable {
    /// Whose state the request may change: if it is refused, that is to be as it was.
    enum Subject: Sendable { case registration, installation, nothing }

    var request: WireRequest
    var subject = Subject.nothing

    /// What a caller has of its own.
    struct Things: Sendable {
        var registration: String
        var installation: String
        /// Path and query of a container that takes files and is listed.
        var container: String
        /// The link to it, and to another for what jobs write: what an export wrote is not to be imported by the next job.
        var link: String
        var output: String
        /// For demo, for busy and for all hubs. Jobs have a hub of their own: an accepted job acts later, and its effects could not be
        /// distinguished from those of a request that was refused meanwhile.
        var token: String
        var jobToken: String
        var rootToken: String

        var registrationTarget: String { "/demo/registrations/\(registration)?api-version=2020-06" }
        var installationTarget: String { "/demo/installations/\(installation)?api-version=2020-06" }
    }

    static func random(_ things: Things, _ random: inout SeededGenerator) -> RequestSample {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3: registration(things, &random)
        case 4...6: installation(things, &random)
        case 7: RequestSample(request: patch(things), subject: .installation)
        case 8...11: RequestSample(request: send(things, &random))
        case 12, 13: RequestSample(request: batch(things, &random))
        case 14...16: RequestSample(request: list(things, &random))
        case 17: RequestSample(request: job(things, &random))
        case 18: RequestSample(request: file(things, &random))
        default: RequestSample(request: management(things, &random))
        }
    }

    static let appleToken = String(repeating: "0A1B", count: 16)

    static func upsert(_ things: Things, tags: String = "city:Oslo,vip") -> WireRequest {
        WireRequest(
            "PUT", things.registrationTarget, entryHeaders(things),
            body: entry("AppleRegistrationDescription", "<Tags>\(tags)</Tags><DeviceToken>\(appleToken)</DeviceToken>"))
    }

    static func put(_ things: Things) -> WireRequest {
        WireRequest(
            "PUT", things.installationTarget, [("Authorization", things.token), ("Content-Type", "application/json")],
            body: """
                {"installationId":"\(things.installation)","platform":"apns","pushChannel":"\(appleToken)","tags":["red","go"],\
                "pushVariables":{"lang":"nb"},"templates":{"t1":{"body":"{\\"aps\\":{\\"alert\\":\\"$(message)\\"}}",\
                "tags":["tt"],"headers":{"apns-priority":"10"}}}}
                """)
    }

    private static func entryHeaders(_ things: Things) -> [(name: String, value: String)] {
        [("Authorization", things.token), ("Content-Type", "application/atom+xml; type=entry; charset=utf-8"), ("If-Match", "*")]
            .filter { $0.0 != "If-Match" }
    }

    private static let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"

    private static func entry(_ type: String, _ elements: String) -> String {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">"
            + "<\(type) xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"\(connect)\">\(elements)</\(type)></content></entry>"
    }

    private static func registration(_ things: Things, _ random: inout SeededGenerator) -> RequestSample {
        let template =
            "<Tags>a,b</Tags><DeviceToken>\(appleToken)</DeviceToken><BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(text) {'x'+#(n)}\"}}]]>"
            + "</BodyTemplate><ApnsHeaders><ApnsHeader><Header>apns-priority</Header><Value>10</Value></ApnsHeader></ApnsHeaders>"
            + "<Expiry>$(until)</Expiry><TemplateName>short</TemplateName><Priority>$(p)</Priority>"
        let typed =
            "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><RegistrationDescription i:type=\"GcmRegistrationDescription\" "
            + "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"\(connect)\"><ETag>1</ETag><RegistrationId i:nil=\"true\" />"
            + "<Tags>a</Tags><GcmRegistrationId>gcm-1</GcmRegistrationId></RegistrationDescription></content></entry>"
        let others: [(type: String, elements: String)] = [
            ("AppleTemplateRegistrationDescription", template),
            (
                "WindowsTemplateRegistrationDescription",
                "<ChannelUri>https://w.example.test/?a=b&amp;c</ChannelUri><BodyTemplate>&lt;toast/&gt;</BodyTemplate><WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
            ),
            (
                "BrowserRegistrationDescription",
                "<Endpoint>https://fcm.googleapis.com/b</Endpoint><P256DH>\(SampleSubscription.publicKey)</P256DH><Auth>\(SampleSubscription.secret)</Auth>"
            ),
        ]
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: return RequestSample(request: upsert(things), subject: .registration)
        case 3:
            var request = upsert(things)
            request.set("If-Match", ["*", "\"1\"", "W/\"2\"", "3"].randomElement(using: &random) ?? "*")
            return RequestSample(request: request, subject: .registration)
        case 4:
            return RequestSample(
                request: WireRequest("POST", "/demo/registrations/?api-version=2015-01", entryHeaders(things), body: typed))
        case 5:
            return RequestSample(
                request: WireRequest("POST", "/demo/registrationIDs?api-version=2020-06", [("Authorization", things.token)]))
        default:
            let other = others[Int.random(in: 0..<others.count, using: &random)]
            let body = entry(other.type, other.elements)
            return RequestSample(
                request: WireRequest("POST", "/demo/registrations?api-version=2020-06", entryHeaders(things), body: body))
        }
    }

    private static func installation(_ things: Things, _ random: inout SeededGenerator) -> RequestSample {
        guard Bool.random(using: &random) else { return RequestSample(request: put(things), subject: .installation) }
        let json = [("Authorization", things.token), ("Content-Type", "application/json")]
        let others = [
            #"{"platform":"browser","pushChannel":{"endpoint":"https://fcm.googleapis.com/b","p256dh":"\#(SampleSubscription.publicKey)","auth":"\#(SampleSubscription.secret)"},"userId":"ann"}"#,
            #"{"platform":"wns","pushChannel":"https://w.example.test","secondaryTiles":{"t":{"pushChannel":"https://w.example.test/t","tags":["x"],"templates":{"a":{"body":"<tile/>"}}}}}"#,
            #"{"platform":"GCM","pushChannel":"g","expirationTime":"2027-02-18T10:00+0000","tags":["red","go"],"pushVariables":null}"#,
        ]
        let target = "/demo/installations/other-\(Int.random(in: 0..<50, using: &random))?api-version=2020-06"
        return RequestSample(
            request: WireRequest("PUT", target, json, body: others[Int.random(in: 0..<others.count, using: &random)]))
    }

    private static func patch(_ things: Things) -> WireRequest {
        WireRequest(
            "PATCH", things.installationTarget,
            [("Authorization", things.token), ("Content-Type", "application/json-patch+json; charset=utf-8")],
            body: #"""
                [{"op":"add","path":"/tags","value":"blue"},{"op":"remove","path":"/tags/red","value":null},\#
                {"op":"replace","path":"/pushVariables","value":"{\"lang\":\"de\"}"},\#
                {"op":"add","path":"/templates/t2","value":"{\"body\":\"{\\\"aps\\\":{\\\"alert\\\":\\\"$(m)\\\"}}\"}"}]
                """#)
    }
}
