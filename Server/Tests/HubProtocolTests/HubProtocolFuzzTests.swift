import ClarionTesting
import RichPushModel
import Testing

@testable import HubProtocol
import WireText

/// Ten thousand damaged inputs for each reader: a value or a typed fault, never a crash, and what is read can be written and
/// read again.
@Suite("Damaged requests of the hub protocol")
struct HubProtocolFuzzTests {
    private static let rounds = 10_000

    /// A sample with a few bytes changed, taken out, doubled or moved.
    private func damaged(_ samples: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array((samples.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0...4, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: at)
            case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 9)], at: at)
            case 3: bytes.removeSubrange(at..<min(bytes.count, at + 5))
            default: bytes[at] = Array("{}[]\",:'/~%&= \r\n-$0eTZ".utf8).randomElement(using: &random) ?? 0
            }
        }
        return bytes
    }

    private func fuzz(_ samples: [String], _ body: ([UInt8]) throws -> Void) {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        var read = 0
        for _ in 0..<Self.rounds {
            let bytes = damaged(samples, &random)
            do {
                try body(bytes)
                read += 1
            } catch {
                #expect(error is HubRequestFault, "\(error) for \(String(decoding: bytes, as: UTF8.self))")
            }
        }
        #expect(read > 0 && read < Self.rounds, "both happen")
    }

    private let installations = [
        #"{"installationId":"i","userID":null,"platform":"apns","pushChannel":"AB","expirationTime":"2026-02-18T10:00+0000","tags":["a","b"],"pushVariables":{"a":"b"},"templates":{"t":{"body":"{}","headers":{"a":"b"},"expiry":"0","tags":["c"]}}}"#,
        #"{"installationId":"i","platform":"browser","pushChannel":"{\"endpoint\":\"e\",\"p256dh\":\"p\",\"auth\":\"a\"}"}"#,
        #"{"installationId":"i","platform":"wns","pushChannel":"u","secondaryTiles":{"w":{"pushChannel":"u","tags":["x"],"templates":{"t":{"body":"b"}}}}}"#,
    ]

    @Test("installations")
    func installationDocuments() {
        fuzz(installations) { bytes in
            let installation = try InstallationDocument(parsing: bytes)
            #expect(try InstallationDocument(parsing: installation.json.utf8) == installation)
        }
    }

    @Test("patches")
    func patches() throws {
        let installation = try InstallationDocument(parsing: installations[0].utf8)
        let samples = [
            #"[{"op":"add","path":"/tags","value":"blue"},{"op":"remove","path":"/tags/red","value":null}]"#,
            #"[{"op":"add","path":"/templates/t2","value":"{\"body\":\"{}\"}"},{"op":"replace","path":"/templates/t2/tags/","value":"[\"x\"]"}]"#,
            #"[{"op":"replace","path":"/secondaryTiles/w~1/templates/t/headers","value":"{}"},{"op":"replace","path":"/expirationTime","value":"2026-02-18T10:00+0000"}]"#,
        ]
        fuzz(samples) { bytes in
            let result = try InstallationPatch(parsing: bytes).applied(to: installation)
            #expect(try InstallationDocument(parsing: result.json.utf8) == result)
        }
    }

    @Test("batches")
    func batches() throws {
        let body = BatchSendBody(notification: Array(#"{"aps":{}}"#.utf8), handles: ["AB", "CD"])
        fuzz([String(decoding: body.encoded, as: UTF8.self)]) { bytes in
            let read = try BatchSendBody(contentType: BatchSendBody.requestContentType, body: bytes)
            #expect((1...1000).contains(read.handles.count))
        }
    }

    @Test("headers of sends")
    func headers() {
        let samples = [
            "apple|a && b|2026-11-21'T'01:49:42|10|1795223509|03/02/2026 02:45:00 PM|alert|ABAB",
            "template|a,b|2026-11-21T01:41:21.871Z|5|\u{FFFD}|2026-03-02T14:45+01:00|background|x",
        ]
        let names = [
            "ServiceBusNotification-Format", "ServiceBusNotification-Tags", "ServiceBusNotification-ScheduleTime",
            "X-Apns-Priority",
            "X-Apns-Expiration", "ServiceBusNotification-Apns-Expiry", "apns-push-type", "ServiceBusNotification-DeviceHandle",
        ]
        fuzz(samples) { bytes in
            let values = bytes.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            let fields = zip(names, values).map { HeaderField($0, String(decoding: $1, as: UTF8.self)) }
            let headers = try SendHeaders(HeaderList(fields), body: [], now: Timestamp(milliseconds: 1_772_359_200_000))
            if let time = headers.scheduleTime { #expect(WireTime(WireTime(time).description)?.moment == time) }
        }
    }

    @Test("content types of batches")
    func contentTypes() {
        let body = BatchSendBody(notification: Array("{}".utf8), handles: ["AB"]).encoded
        fuzz([BatchSendBody.requestContentType, "multipart/form-data; boundary = nh-batch-multipart-boundary"]) { bytes in
            _ = try BatchSendBody(contentType: String(decoding: bytes, as: UTF8.self), body: body)
        }
    }

    @Test("queries and filters")
    func queries() {
        let samples = [
            "api-version=2020-06&$top=2&continuationtoken=\(ContinuationToken(key: 7).text)",
            "%24filter=Endpoint%20eq%20'https%253A%252F%252Fe'%20and%20P256DH%20eq%20'p'&ContinuationToken=\(ContinuationToken(key: -7).text)",
        ]
        fuzz(samples) { bytes in
            let list = try ListQuery(HubQuery(String(decoding: bytes, as: UTF8.self)))
            #expect((1...100).contains(list.top))
            if let filter = list.filter {
                #expect(try RegistrationFilter(filter.text).handle.values.first == filter.handle.values.first)
            }
        }
    }

    @Test("paths and conditions are matched or not, never a crash")
    func paths() {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        for _ in 0..<Self.rounds {
            let text = String(
                decoding: damaged(
                    ["/demo/messages/$batch", "/demo/tags/city%3AOslo/registrations/", "/$Resources/NotificationHubs"], &random),
                as: UTF8.self)
            if case .route(let route) = HubRoute.match(method: "GET", path: text) {
                let header = LocationHeader(
                    authority: text, fallback: "f", route: route, apiVersion: HubQuery(text).apiVersion)
                #expect(header.member(route.id ?? "x").hasPrefix("https://"))
            }
            _ = IfMatch(header: text)?.matches(1)
        }
    }
}
