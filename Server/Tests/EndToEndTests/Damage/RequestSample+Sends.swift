import ClarionTesting
import Foundation
import HubProtocol
import RichPushModel
import WireText

extension RequestSample {
    static func send(_ things: Things, _ random: inout SeededGenerator) -> WireRequest {
        let tomorrow = WireTime(SystemClock().now + .seconds(86_400)).description
        var headers = [
            ("Authorization", things.token), ("Content-Type", "application/json;charset=utf-8"),
            ("ServiceBusNotification-Format", "apple"),
        ]
        let apple = #"{"aps":{"alert":"Hello","sound":""},"richId":"7"}"#
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            headers += [
                ("ServiceBusNotification-Tags", "nobody && (a || !b) && $UserId:{ann}"), ("apns-push-type", "alert"),
                ("apns-priority", "10"), ("apns-expiration", "1995240000"), ("apns-collapse-id", "c"),
                ("apns-topic", "org.example.app"),
                ("ServiceBusNotification-Apns-Expiry", "11/22/2033 02:45:00"),
                ("TrackingId", "x-\(UInt8.random(in: 0...9, using: &random))"),
            ]
            return WireRequest("POST", "/demo/messages?api-version=2020-06", headers, body: apple)
        case 3:
            headers.append(("ServiceBusNotification-DeviceHandle", appleToken))
            return WireRequest("POST", "/demo/messages?direct&api-version=2020-06", headers, body: apple)
        case 4:
            headers.append(("ServiceBusNotification-Tags", "nobody"))
            return WireRequest("POST", "/demo/messages/?test=true&api-version=2020-06", headers, body: apple)
        case 5:
            headers += [("ServiceBusNotification-ScheduleTime", tomorrow), ("ServiceBusNotification-Tags", "nobody")]
            return WireRequest("POST", "/demo/schedulednotifications?api-version=2020-06", headers, body: apple)
        case 6:
            headers[2].1 = "template"
            headers.append(("ServiceBusNotification-Tags", "nobody"))
            return WireRequest(
                "POST", "/demo/messages?api-version=2020-06", headers, body: #"{"text":"a","n":"1","until":"2027-01-01"}"#)
        default:
            headers[2].1 = "windows"
            headers += [("X-WNS-Type", "wns/raw"), ("ServiceBusNotification-Tags", "nobody")]
            return WireRequest("POST", "/demo/messages", headers, body: "<toast><visual/></toast>")
        }
    }

    static func batch(_ things: Things, _ random: inout SeededGenerator) -> WireRequest {
        let boundary = "nh-batch-multipart-boundary"
        let last = ["--\r\n", "--", "", "\r\n"].randomElement(using: &random) ?? ""
        let parts = [("notification", #"{"aps":{"alert":"b"}}"#), ("devices", "[\"\(appleToken)\",\"ABCD\"]")].map {
            "--\(boundary)\r\nContent-type: application/json\r\nContent-Disposition: inline; name=\($0.0)\r\n\r\n\($0.1)\r\n"
        }
        return WireRequest(
            "POST", "/demo/messages/$batch?direct&api-version=2020-06",
            [
                ("Authorization", things.token), ("Content-Type", "multipart/mixed; boundary = \"\(boundary)\""),
                ("ServiceBusNotification-Format", "apple"),
            ], body: parts.joined() + "--\(boundary)" + last)
    }

    static func list(_ things: Things, _ random: inout SeededGenerator) -> WireRequest {
        let targets = [
            "/demo/registrations?api-version=2020-06&$top=2&continuationtoken=\(ContinuationToken(key: 7).text)",
            "/demo/Registrations/?$filter=deviceToken+eq+'\(appleToken)'&api-version=2013-04",
            "/demo/registrations?%24filter=Endpoint%20eq%20'https%253A%252F%252Fb'%20and%20P256DH%20eq%20'p'%20and%20Auth%20eq%20'a'",
            "/demo/tags/city%3AOslo/registrations?api-version=2020-06&$top=3", things.registrationTarget,
            things.installationTarget,
            "/demo/messages/0c5d2a1e9b7f4c3d8e6a5b4c3d2e1f00-20260301100000-0-1?api-version=2016-07",
            "/demo/feedbackcontainer?api-version=2020-06", "/demo/jobs?api-version=2020-06", "/demo/jobs/1",
            things.container + "&restype=container&comp=list&maxresults=2&prefix=in&marker=a",
        ]
        if Int.random(in: 0..<8, using: &random) == 0 {
            let target = ["registrations", "installations", "schedulednotifications"].randomElement(using: &random) ?? ""
            return WireRequest("DELETE", "/demo/\(target)/other-1", [("Authorization", things.token), ("If-Match", "\"*\"")])
        }
        let target = targets.randomElement(using: &random) ?? "/"
        return WireRequest("GET", target, target.hasPrefix("/$") ? [] : [("Authorization", things.token)])
    }

    static func job(_ things: Things, _ random: inout SeededGenerator) -> WireRequest {
        let isExport = Int.random(in: 0..<8, using: &random) == 0
        let document = HubJobDocument(
            isExport ? .exportRegistrations : .importUpsertRegistrations, outputContainer: things.output,
            importFile: isExport ? nil : things.link)
        return WireRequest(
            "POST", "/busy/jobs?api-version=2020-06",
            [("Authorization", things.jobToken), ("Content-Type", "application/atom+xml; type=entry; charset=utf-8")],
            body: document.request())
    }

    static func file(_ things: Things, _ random: inout SeededGenerator) -> WireRequest {
        let parts = things.container.split(separator: "?", maxSplits: 1)
        let name = "in/\(Int.random(in: 0..<5, using: &random)).txt"
        let line = RegistrationLines.line(
            RegistrationDescription(.apple, handle: appleToken, registrationID: "from-a-file", etag: "1", tags: ["a"]))
        return WireRequest(
            ["PUT", "PUT", "GET", "DELETE"].randomElement(using: &random) ?? "PUT", "\(parts[0])/\(name)?\(parts.last ?? "")",
            [("x-ms-blob-type", "BlockBlob"), ("Range", "bytes=0-99")], body: line)
    }

    static func management(_ things: Things, _ random: inout SeededGenerator) -> WireRequest {
        let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
        let body =
            "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><NotificationHubDescription "
            + "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"\(connect)\"><ApnsCredential><Properties><Property>"
            + "<Name>Endpoint</Name><Value>null</Value></Property></Properties></ApnsCredential><RegistrationTtl>P90D</RegistrationTtl>"
            + "<AuthorizationRules><AuthorizationRule i:type=\"SharedAccessAuthorizationRule\"><ClaimType>SharedAccessKey</ClaimType>"
            + "<ClaimValue>None</ClaimValue><Rights><AccessRights>Listen</AccessRights></Rights><KeyName>Mine</KeyName>"
            + "<PrimaryKey>cm9vdC1rZXktZm9yLWV4YW1wbGVzLTAxMjM0NTY3ODkwMTI=</PrimaryKey></AuthorizationRule></AuthorizationRules>"
            + "<UserMetadata>m</UserMetadata></NotificationHubDescription></content></entry>"
        let name = "spare-\(Int.random(in: 0..<3, using: &random))"
        let headers = [("Authorization", things.rootToken), ("Content-Type", "application/atom+xml; type=entry; charset=utf-8")]
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return WireRequest("PUT", "/\(name)?api-version=2014-09", headers, body: body)
        case 1: return WireRequest("PUT", "/\(name)?api-version=2014-09", headers + [("If-Match", "*")], body: body)
        case 2: return WireRequest("DELETE", "/\(name)", headers)
        case 3: return WireRequest("GET", "/$Resources/NotificationHubs/?api-version=2014-09&$skip=0&$top=2147483647", headers)
        default: return WireRequest("GET", "/\(name)", headers)
        }
    }
}
