import RichPushModel
import Testing

@testable import HubProtocol
import WireText

@Suite("Headers of a send")
struct SendHeadersTests {
    /// 2026-03-01T10:00:00Z.
    private let now = Timestamp(milliseconds: 1_772_359_200_000)
    private let body = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)

    private func read(_ headers: HeaderList, body: String? = nil) throws -> SendHeaders {
        try SendHeaders(headers, body: body.map { Array($0.utf8) } ?? self.body, now: now)
    }

    private func fault(_ headers: HeaderList, body: String? = nil) -> String {
        do {
            _ = try SendHeaders(headers, body: body.map { Array($0.utf8) } ?? self.body, now: now)
            return "none"
        } catch { return error.description }
    }

    private func moment(_ text: String) throws -> Timestamp { try #require(WireTime(text)?.moment) }

    @Test("the documented send is read, names in any case")
    func example() throws {
        let headers = try read([
            HeaderField("content-type", "application/json;charset=utf-8"), HeaderField("servicebusnotification-format", "apple"),
            HeaderField("SERVICEBUSNOTIFICATION-TAGS", " vip && !city:Oslo "), HeaderField("apns-push-type", "alert"),
        ])
        #expect(headers == SendHeaders(format: .apple, tags: "vip && !city:Oslo", apple: .init(pushType: "alert")))
    }

    @Test(
        "every format is known in any case",
        arguments: [
            ("apple", NotificationFormat.apple, "apns"), ("Apple", .apple, "apns"), ("gcm", .gcm, "gcm"), ("fcm", .gcm, "gcm"),
            ("fcmv1", .fcmv1, "fcmv1"), ("windows", .windows, "wns"), ("windowsphone", .windowsphone, "mpns"),
            ("adm", .adm, "adm"),
            ("browser", .browser, "browser"), ("baidu", .baidu, "baidu"), ("xiaomi", .xiaomi, "xiaomi"),
            ("nokiax", .nokiax, "nokiax"),
        ])
    func formats(_ text: String, _ format: NotificationFormat, _ platform: String) throws {
        let read = try read([HeaderField("ServiceBusNotification-Format", text), HeaderField("x-wns-type", "WNS/Toast")])
        #expect(read.format == format)
        #expect(read.format.platform?.rawValue == platform)
    }

    @Test("a template send has no platform of its own")
    func template() throws {
        let read = try read([HeaderField("ServiceBusNotification-Format", "template")])
        #expect(read.format == .template)
        #expect(read.format.platform == nil)
    }

    @Test("a missing format is derived from a top-level aps, and else refused")
    func guessed() throws {
        #expect(try read([]).format == .apple)
        let name = "ServiceBusNotification-Format"
        #expect(fault([], body: #"{"data":{"aps":1}}"#) == "\(name): it is missing, and the body does not show the format")
        #expect(fault([], body: "<toast/>") == "\(name): it is missing, and the body does not show the format")
        #expect(fault([HeaderField(name, "apples")]).hasPrefix("\(name): it is one of apple, gcm,"))
    }

    @Test("no tags mean everyone, an expression stays as it was written, and an empty header is a mistake")
    func tags() throws {
        #expect(try read([]).tags == nil)
        #expect(try read([HeaderField("ServiceBusNotification-Tags", "red,blue")]).tags == "red,blue")
        #expect(try read([HeaderField("ServiceBusNotification-Tags", "red||blue")]).tags == "red||blue")
        #expect(
            fault([HeaderField("ServiceBusNotification-Tags", " ")])
                == "ServiceBusNotification-Tags: it is empty; leave the header out to send to everyone")
    }

    @Test("a handle makes a send direct, and is bounded")
    func handle() throws {
        #expect(try read([HeaderField("ServiceBusNotification-DeviceHandle", "ABAB")]).deviceHandle == "ABAB")
        let name = "ServiceBusNotification-DeviceHandle"
        #expect(fault([HeaderField(name, String(repeating: "A", count: 4097))]) == "\(name): a handle has 1 to 4096 bytes")
        #expect(fault([HeaderField(name, "")]) == "\(name): a handle has 1 to 4096 bytes")
    }

    @Test(
        "a schedule time is read in the four spellings of the clients",
        arguments: [
            ("2026-11-21T01:45:28", "2026-11-21T01:45:28Z"), ("2026-11-21T01:41:21.871Z", "2026-11-21T01:41:21.871Z"),
            ("2026-11-21'T'01:49:42", "2026-11-21T01:49:42Z"), ("2026-11-21T01:45:28+01:00", "2026-11-21T00:45:28Z"),
        ])
    func schedule(_ text: String, _ meant: String) throws {
        #expect(try read([HeaderField("ServiceBusNotification-ScheduleTime", text)]).scheduleTime == moment(meant))
    }

    @Test("a schedule time that is none is refused")
    func badSchedule() {
        #expect(
            fault([HeaderField("ServiceBusNotification-ScheduleTime", "soon")]).hasPrefix(
                "ServiceBusNotification-ScheduleTime: a date"))
    }

    @Test("the Apple headers are passed through in every spelling, the plain ones first")
    func apple() throws {
        let go = try read([
            HeaderField("X-Apns-Expiration", "1795223509"), HeaderField("X-Apns-Priority", "5"),
            HeaderField("X-Apns-Push-Type", "background"),
        ])
        #expect(go.apple == .init(pushType: "background", priority: 5, expiry: .at(Timestamp(seconds: 1_795_223_509))))
        let all = try read([
            HeaderField("X-Apns-Priority", "10"), HeaderField("apns-priority", "1"), HeaderField("apns-topic", "a.b"),
            HeaderField("apns-collapse-id", "c"), HeaderField("apns-expiration", "0"),
            HeaderField("apns-id", "0C5D2A1E-9B7F-4C3D-8E6A-5B4C3D2E1F00"),
        ])
        #expect(
            all.apple
                == .init(
                    priority: 1, topic: "a.b", collapseID: "c", expiry: .immediately, id: "0c5d2a1e-9b7f-4c3d-8e6a-5b4c3d2e1f00"))
    }

    @Test(
        "the replacement character that one client sends means nothing, however the server decoded it",
        arguments: ["\u{FFFD}", "ï¿½"])
    func noise(_ value: String) throws {
        let read = try read([
            HeaderField("X-Apns-Expiration", value), HeaderField("X-Apns-Priority", value),
            HeaderField("X-Apns-Push-Type", value),
        ])
        #expect(read.apple == AppleSendHeaders())
        #expect(try self.read([HeaderField("X-Apns-Expiration", "12x")]).apple.expiry == nil)
    }

    @Test(
        "a value that APNs would refuse is refused with the header's name",
        arguments: [
            ("apns-priority", "high", "it is 10, 5 or 1"), ("X-Apns-Priority", "7", "it is 10, 5 or 1"),
            ("apns-push-type", "a b", "a word such as alert or background is expected"),
            ("apns-expiration", "tomorrow", "Unix seconds are expected"), ("apns-id", "7", "a UUID is expected"),
            ("apns-collapse-id", String(repeating: "c", count: 65), "it has at most 64 bytes and no control characters"),
            (
                "ServiceBusNotification-Apns-Expiry", "later",
                "a date such as 2026-03-01T10:00:00Z or 03/01/2026 10:00:00 is expected"
            ),
        ])
    func refused(_ name: String, _ value: String, _ reason: String) {
        #expect(fault([HeaderField(name, value)]) == "\(name): \(reason)")
    }

    @Test("an expiry needs a time of day", arguments: ["2026-03-02", "2026-03", "03/02/2026", "3/2/2026"])
    func expiryWithoutTime(_ text: String) {
        #expect(throws: HubRequestFault.self) { try read([HeaderField("ServiceBusNotification-Apns-Expiry", text)]) }
    }

    @Test(
        "an expiry is read in every format",
        arguments: [
            ("ServiceBusNotification-Apns-Expiry", "03/02/2026 14:45:00", "2026-03-02T14:45:00Z"),
            ("ServiceBusNotification-Apns-Expiry", "2026-03-02T14:45:00.5Z", "2026-03-02T14:45:00.5Z"),
            ("ServiceBusNotification-Apns-Expiry", "2026-03-02T14:45+01:00", "2026-03-02T13:45:00Z"),
            ("ServiceBusNotification-ApnsExpiry", "2026-03-02T14:45:00", "2026-03-02T14:45:00Z"),
            ("ServiceBusNotification-Apns-Expiry", "03/02/2026 02:45:00 PM", "2026-03-02T14:45:00Z"),
            ("ServiceBusNotification-Apns-Expiry", "03/02/2026 12:45:00 AM", "2026-03-02T00:45:00Z"),
            // On a 12-hour clock: in the past as written, so the other half of the day is meant.
            ("ServiceBusNotification-Apns-Expiry", "03/01/2026 02:45:00", "2026-03-01T14:45:00Z"),
            // In the past in either half of the day: as written.
            ("ServiceBusNotification-Apns-Expiry", "02/27/2026 02:45:00", "2026-02-27T02:45:00Z"),
            // Ahead as written.
            ("ServiceBusNotification-Apns-Expiry", "03/02/2026 02:45:00", "2026-03-02T02:45:00Z"),
        ])
    func expiry(_ name: String, _ text: String, _ meant: String) throws {
        #expect(try read([HeaderField(name, text)]).apple.expiry == .at(moment(meant)))
    }

    @Test("a client that writes a 24-hour clock is taken at its word")
    func trueClock() throws {
        let read = try read([
            HeaderField("ServiceBusNotification-Apns-Expiry", "03/01/2026 02:45:00"),
            HeaderField("User-Agent", "NHub/2020-06 (api-origin=DotNetSdk;os=x;os-version=1)"),
        ])
        #expect(read.apple.expiry == .at(try moment("2026-03-01T02:45:00Z")))
    }

    @Test("headers for other push services are kept as they came, others not")
    func platformHeaders() throws {
        let read = try read([
            HeaderField("ServiceBusNotification-Format", "windows"), HeaderField("X-WNS-Type", "wns/toast"),
            HeaderField("x-wns-tag", "t"), HeaderField("X-WindowsPhone-Target", "toast"), HeaderField("X-NotificationClass", "2"),
            HeaderField("X-Baidu-Message-Type", "1"), HeaderField("Auth", "a"), HeaderField("P256DH", "p"),
            HeaderField("Authorization", "SharedAccessSignature sr=x"), HeaderField("Host", "h"),
        ])
        #expect(
            read.platformHeaders.map(\.name) == [
                "X-WNS-Type", "x-wns-tag", "X-WindowsPhone-Target", "X-NotificationClass", "X-Baidu-Message-Type", "Auth",
                "P256DH",
            ])
    }

    @Test("a repeated request is known by the client's own id")
    func requestID() throws {
        let both: HeaderList = [HeaderField("TrackingId", "t"), HeaderField("x-ms-client-request-id", "c")]
        #expect(try read(both).requestID == "c")
        #expect(try read([HeaderField("trackingid", "t")]).requestID == "t")
        #expect(try read([HeaderField("TrackingId", "a b")]).requestID == nil)
    }

    @Test("what the client writes reads back as the same")
    func written() throws {
        let headers = SendHeaders(
            format: .apple, tags: "a && b", deviceHandle: nil, scheduleTime: Timestamp(milliseconds: 1_772_359_200_123),
            apple: .init(
                pushType: "alert", priority: 5, topic: "t", collapseID: "c", expiry: .at(Timestamp(seconds: 1_795_223_509)),
                id: "0c5d2a1e-9b7f-4c3d-8e6a-5b4c3d2e1f00"),
            requestID: "r")
        #expect(
            headers.fields == [
                HeaderField("Content-Type", "application/json;charset=utf-8"),
                HeaderField("ServiceBusNotification-Format", "apple"),
                HeaderField("ServiceBusNotification-Tags", "a && b"),
                HeaderField("ServiceBusNotification-ScheduleTime", "2026-03-01T10:00:00.123Z"),
                HeaderField("apns-push-type", "alert"),
                HeaderField("apns-priority", "5"), HeaderField("apns-topic", "t"), HeaderField("apns-collapse-id", "c"),
                HeaderField("apns-expiration", "1795223509"), HeaderField("apns-id", "0c5d2a1e-9b7f-4c3d-8e6a-5b4c3d2e1f00"),
                HeaderField("x-ms-client-request-id", "r"),
            ])
        #expect(try read(HeaderList(headers.fields)) == headers)
        let raw = SendHeaders(format: .windows, platformHeaders: [HeaderField("X-WNS-Type", "wns/raw")])
        #expect(raw.fields.first?.value == "application/octet-stream")
    }
}
