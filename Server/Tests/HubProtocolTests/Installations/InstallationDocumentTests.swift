import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Installations in JSON")
struct InstallationDocumentTests {
    private func read(_ json: String, pathID: String? = nil, limits: HubLimits = HubLimits()) throws -> InstallationDocument {
        try InstallationDocument(parsing: json.utf8, pathID: pathID, limits: limits)
    }

    private func fault(_ json: String, pathID: String? = nil, limits: HubLimits = HubLimits()) -> String {
        do {
            _ = try InstallationDocument(parsing: json.utf8, pathID: pathID, limits: limits)
            return "none"
        } catch { return error.description }
    }

    private let minimal = #"{"installationId":"i","platform":"apns","pushChannel":"AB"}"#

    @Test("the whole model of an installation is read and answered to the byte")
    func whole() throws {
        let json = #"""
            {
              "installationId": "7d1f-22",
              "userId": "ann",
              "platform": "apns",
              "pushChannel": "0A1B2C3D",
              "pushChannelExpired": false,
              "expirationTime": "9999-12-31T23:59:59.9999999Z",
              "tags": ["vip"],
              "pushVariables": { "lang": "nb" },
              "templates": {
                "short": { "body": "{\"aps\":{\"alert\":\"$(text)\"}}", "headers": { "apns-priority": "10" }, "expiry": "$(until)", "tags": ["short", "news"] }
              },
              "secondaryTiles": {
                "WeatherTileId": { "pushChannel": "https://tiles.example.test/", "tags": ["w"], "templates": { "t": { "body": "<tile>…</tile>", "headers": { "X-WNS-Type": "wns/tile" } } } }
              }
            }
            """#
        let installation = try read(json, pathID: "7d1f-22")
        #expect(installation.userID == "ann")
        #expect(installation.pushChannel == .handle("0A1B2C3D"))
        #expect(installation.templates.first?.tags == ["news"], "its own name is carried anyway")
        #expect(
            installation.json
                == #"{"installationId":"7d1f-22","userId":"ann","pushChannel":"0A1B2C3D","pushChannelExpired":false,"platform":"apns","expirationTime":"9999-12-31T23:59:59.999Z","tags":["vip"],"pushVariables":{"lang":"nb"},"templates":{"short":{"body":"{\"aps\":{\"alert\":\"$(text)\"}}","headers":{"apns-priority":"10"},"expiry":"$(until)","tags":["short","news"]}},"secondaryTiles":{"WeatherTileId":{"pushChannel":"https://tiles.example.test/","tags":["w"],"templates":{"t":{"body":"<tile>…</tile>","headers":{"X-WNS-Type":"wns/tile"},"tags":["t"]}}}}}"#
        )
        #expect(try read(installation.json) == installation, "what is answered can be put again")
    }

    @Test("absent members are omitted in the answer")
    func minimalAnswer() throws {
        #expect(try read(minimal).json == #"{"installationId":"i","pushChannel":"AB","platform":"apns"}"#)
    }

    @Test("null means absent, as one client sends it for everything")
    func nulls() throws {
        let installation = try read(
            #"{"installationId":"i","userId":null,"platform":"apns","pushChannel":"AB","pushChannelExpired":null,"expirationTime":null,"tags":null,"pushVariables":null,"templates":null,"secondaryTiles":null}"#
        )
        #expect(installation == (try read(minimal)))
        #expect(try read(#"{"installationId":null,"platform":"apns","pushChannel":"AB"}"#, pathID: "p").installationID == "p")
    }

    @Test("both spellings of the user and of the expired channel are read, and names in any case")
    func spellings() throws {
        let other = try read(
            #"{"InstallationId":"i","userID":"ann","Platform":"APNS","PushChannel":"ab","expiredPushChannel":true,"Tags":["a"]}"#)
        #expect(other.userID == "ann")
        #expect(other.platform == .apns)
        #expect(other.pushChannelExpired == true)
        #expect(other.tags == ["a"])
        #expect(try read(#"{"installationId":"i","platform":"fcmV1","pushChannel":"x"}"#).platform.rawValue == "fcmv1")
    }

    @Test(
        "every platform of the protocol is known",
        arguments: ["apns", "wns", "mpns", "gcm", "adm", "baidu", "fcmv1", "xiaomi", "WNS", "fcmV1"])
    func platforms(_ name: String) throws {
        let installation = try read(#"{"installationId":"i","platform":"\#(name)","pushChannel":"x"}"#)
        #expect(installation.json.contains(#""platform":"\#(name.lowercased())""#))
    }

    @Test("members that only the server sets, and unknown members, are ignored")
    func ignored() throws {
        let installation = try read(
            #"{"installationId":"i","platform":"apns","pushChannel":"AB","lastUpdate":"2026-03-01T10:00:00Z","lastActiveOn":7,"x":{"y":[1]}}"#
        )
        #expect(installation == (try read(minimal)))
    }

    @Test("a browser's channel comes back in the spelling in which it came")
    func browser() throws {
        let object = try read(
            #"{"installationId":"i","platform":"browser","pushChannel":{"endpoint":"https://e.example.test/","p256dh":"p","auth":"a"}}"#
        )
        #expect(object.pushChannel.handle == "https://e.example.test/ p a")
        #expect(
            object.json
                == #"{"installationId":"i","pushChannel":{"endpoint":"https://e.example.test/","p256dh":"p","auth":"a"},"platform":"browser"}"#
        )
        let text = try read(
            #"{"installationId":"i","platform":"browser","pushChannel":"{\"endpoint\":\"https://e.example.test/\",\"p256dh\":\"p\",\"auth\":\"a\"}"}"#
        )
        #expect(
            text.json
                == #"{"installationId":"i","pushChannel":"{\"endpoint\":\"https://e.example.test/\",\"p256dh\":\"p\",\"auth\":\"a\"}","platform":"browser"}"#
        )
        #expect(
            fault(#"{"installationId":"i","platform":"browser","pushChannel":{"endpoint":"e","auth":"a"}}"#)
                == "pushChannel.p256dh: a text of 1 to 4096 bytes without blanks is expected")
        #expect(
            fault(#"{"installationId":"i","platform":"browser","pushChannel":"https://e"}"#).hasPrefix("pushChannel: a browser's")
        )
    }

    @Test(
        "dates are read without seconds and colon, and answered in RFC 3339",
        arguments: [
            ("2026-02-18T10:00+0000", "2026-02-18T10:00:00.000Z"), ("2026-02-18T10:00:05+01:30", "2026-02-18T08:30:05.000Z"),
            ("2026-02-18T10:00:05.1234567Z", "2026-02-18T10:00:05.123Z"), ("2026-02-18T10:00:05", "2026-02-18T10:00:05.000Z"),
        ])
    func dates(_ given: String, _ answered: String) throws {
        let installation = try read(
            #"{"installationId":"i","platform":"apns","pushChannel":"AB","expirationTime":"\#(given)"}"#)
        #expect(installation.json.contains(#""expirationTime":"\#(answered)""#))
    }

    @Test("the date that libraries write for none is none")
    func zeroDate() throws {
        let installation = try read(
            #"{"installationId":"i","platform":"apns","pushChannel":"AB","expirationTime":"0001-01-01T00:00:00Z"}"#)
        #expect(installation.expirationTime == nil)
    }

    @Test("a template without tags comes back with its name as a tag, even when no tag may be written so")
    func templateName() throws {
        let installation = try read(
            #"{"installationId":"i","platform":"apns","pushChannel":"AB","templates":{"Template Name":{"body":"{}"}}}"#)
        #expect(installation.json.hasSuffix(#""templates":{"Template Name":{"body":"{}","tags":["Template Name"]}}}"#))
        #expect(try read(installation.json) == installation)
    }

    @Test("a tag is kept once whatever its case, and blank ones not at all")
    func tags() throws {
        let installation = try read(
            #"{"installationId":"i","platform":"apns","pushChannel":"AB","tags":["Red","red"," ","blue "]}"#)
        #expect(installation.tags == ["Red", "blue"])
    }

    @Test("special tags of one's own are taken away, those of others refused")
    func specialTags() throws {
        let installation = try read(
            #"{"installationId":"i","userId":"ann","platform":"apns","pushChannel":"AB","tags":["$InstallationId:{i}","a","$userid:{ann}"]}"#
        )
        #expect(installation.tags == ["a"])
        #expect(
            fault(#"{"installationId":"i","platform":"apns","pushChannel":"AB","tags":["a","$InstallationId:{j}"]}"#)
                == "tags[1]: the tag names another installation or user")
        #expect(
            fault(
                #"{"installationId":"i","platform":"apns","pushChannel":"AB","templates":{"t":{"body":"{}","tags":["$UserId:{bob}"]}}}"#
            ) == "templates.t.tags[0]: the tag names another installation or user")
    }

    @Test(
        "a fault names the member",
        arguments: [
            (#"[]"#, "body: a JSON object is expected"), (#"{"#, "byte 2: a member's name in quotes is expected"),
            (#"{}"#, "platform: it is missing"), (#"{"platform":"apns"}"#, "installationId: it is missing"),
            (#"{"platform":"ios"}"#, "platform: it is one of adm, apns, baidu, browser, fcmv1, gcm, mpns, wns, xiaomi"),
            (#"{"platform":7}"#, "platform: a text is expected"),
            (#"{"installationId":"i","platform":"apns"}"#, "pushChannel: it is missing"),
            (#"{"installationId":"i","platform":"apns","pushChannel":{"endpoint":"e"}}"#, "pushChannel: a text is expected"),
            (#"{"installationId":"i","platform":"apns","pushChannel":""}"#, "pushChannel: the device token is empty"),
            (
                #"{"installationId":"a/b","platform":"apns","pushChannel":"AB"}"#,
                "installationId: it has none of / ? # and blanks"
            ),
        ])
    func faults(_ json: String, _ expected: String) { #expect(fault(json) == expected) }

    @Test(
        "a fault in a member names it too",
        arguments: [
            (#""tags":"a""#, "tags: a list of texts is expected"), (#""tags":[1]"#, "tags[0]: a text is expected"),
            (#""tags":["a b"]"#, "tags[0]: a tag has 1 to 120 letters, digits and _ @ # . : -"),
            (#""tags":["$Other:{x}"]"#, "tags[0]: a tag has 1 to 120 letters, digits and _ @ # . : -"),
            (#""expirationTime":"tomorrow""#, "expirationTime: a date and time such as 2026-03-01T10:00:00Z is expected"),
            (#""expirationTime":7"#, "expirationTime: a date and time is expected"),
            (#""pushChannelExpired":3"#, "pushChannelExpired: true or false is expected"),
            (#""pushVariables":[]"#, "pushVariables: an object is expected"),
            (#""pushVariables":{"a":[]}"#, "pushVariables.a: a text is expected"),
            (#""templates":[]"#, "templates: an object is expected"),
            (#""templates":{"t":{}}"#, "templates.t.body: a text is expected"),
            (#""templates":{"t":{"body":""}}"#, "templates.t.body: it is empty"),
            (#""templates":{"t":{"body":"{}","headers":{"a b":"c"}}}"#, "templates.t.headers.a b: this is no name of a header"),
            (
                #""templates":{"t":{"body":"{}","headers":{"a":"c\r\nd: e"}}}"#,
                "templates.t.headers.a: a value has at most 4096 bytes and no control characters"
            ),
            (#""templates":{"t":{"body":"{}","expiry":{}}}"#, "templates.t.expiry: a text is expected"),
            (#""secondaryTiles":{"w":{}}"#, "secondaryTiles.w.pushChannel: it is missing"),
            (
                #""secondaryTiles":{"w":{"pushChannel":"u","templates":{"t":7}}}"#,
                "secondaryTiles.w.templates.t: an object is expected"
            ),
        ])
    func memberFaults(_ member: String, _ expected: String) {
        #expect(fault(#"{"installationId":"i","platform":"apns","pushChannel":"AB",\#(member)}"#) == expected)
    }

    @Test("the id in the body is the one in the path")
    func otherID() {
        #expect(fault(minimal, pathID: "j") == "installationId: it differs from the id in the path")
    }

    @Test("numbers of tags, templates and tiles, and sizes, are bounded")
    func bounds() {
        func with(_ member: String, _ limits: HubLimits = HubLimits()) -> String {
            fault(#"{"installationId":"i","platform":"apns","pushChannel":"AB",\#(member)}"#, limits: limits)
        }
        let tags = { (count: Int) in #""tags":["# + (0..<count).map { "\"t\($0)\"" }.joined(separator: ",") + "]" }
        #expect(with(tags(60)) == "none")
        #expect(with(tags(61)) == "tags: there are more than 60")
        var limits = HubLimits()
        limits.templates = 1
        limits.secondaryTiles = 1
        limits.templateBytes = 3
        #expect(with(#""templates":{"a":{"body":"{}"},"b":{"body":"{}"}}"#, limits) == "templates: there are more than 1")
        #expect(with(#""templates":{"a":{"body":"long"}}"#, limits) == "templates.a.body: it has more than 3 bytes")
        #expect(
            with(#""secondaryTiles":{"a":{"pushChannel":"u"},"b":{"pushChannel":"u"}}"#, limits)
                == "secondaryTiles: there are more than 1")
        let large = #"{"x":""# + String(repeating: "x", count: 300_000) + #""}"#
        do {
            _ = try InstallationDocument(parsing: large.utf8)
            Issue.record("a body beyond the limit was read")
        } catch { #expect(error.kind == .tooLarge) }
    }
}
