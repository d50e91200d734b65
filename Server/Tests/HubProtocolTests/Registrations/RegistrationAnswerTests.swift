import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Registration answers, to the byte")
struct RegistrationAnswerTests {
    private func element(_ description: RegistrationDescription, omitsSingleHeader: Bool = true) -> String {
        var writer = XMLWriter()
        description.write(to: &writer, form: .named, omitsSingleHeader: omitsSingleHeader)
        return writer.text
    }

    private func expected(_ name: String, _ own: String) -> String {
        Samples.description(
            name,
            "<ETag>3</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>1-2-3</RegistrationId>" + own)
    }

    @Test("the canonical entry")
    func canonical() {
        let entry = RegistrationEntry(Samples.canonical, published: Samples.morning, updated: Samples.morning)
        #expect(entry.answer(at: Samples.location("registrations")) == Samples.canonicalEntry)
    }

    @Test("the entry repeats spelling and version of the request")
    func spelling() {
        let entry = RegistrationEntry(Samples.canonical, published: Samples.morning, updated: Samples.morning)
        let answer = entry.answer(at: Samples.location("Registrations", version: "2013-08"))
        #expect(answer.contains("<id>https://push.example.test/demo/Registrations/7481203-1183-2?api-version=2013-08</id>"))
    }

    @Test(
        "every native type has its own elements in order",
        arguments: [
            (RegistrationPlatform.apple, "AppleRegistrationDescription", "<DeviceToken>H</DeviceToken>"),
            (.gcm, "GcmRegistrationDescription", "<GcmRegistrationId>H</GcmRegistrationId>"),
            (.fcm, "FcmRegistrationDescription", "<FcmRegistrationId>H</FcmRegistrationId>"),
            (.fcmV1, "FcmV1RegistrationDescription", "<FcmV1RegistrationId>H</FcmV1RegistrationId>"),
            (
                .windows, "WindowsRegistrationDescription",
                "<ChannelUri>H</ChannelUri><SecondaryTileName>S</SecondaryTileName>"
            ),
            (.mpns, "MpnsRegistrationDescription", "<ChannelUri>H</ChannelUri><SecondaryTileName>S</SecondaryTileName>"),
            (.adm, "AdmRegistrationDescription", "<AdmRegistrationId>H</AdmRegistrationId>"),
            (.baidu, "BaiduRegistrationDescription", "<BaiduUserId>H</BaiduUserId><BaiduChannelId>B</BaiduChannelId>"),
            (.browser, "BrowserRegistrationDescription", "<Endpoint>H</Endpoint><P256DH>P</P256DH><Auth>A</Auth>"),
            (.xiaomi, "XiaomiRegistrationDescription", "<XiaomiRegistrationId>H</XiaomiRegistrationId>"),
        ])
    func native(platform: RegistrationPlatform, name: String, own: String) throws {
        let all = ["SecondaryTileName": "S", "BaiduChannelId": "B", "P256DH": "P", "Auth": "A"]
        let description = RegistrationDescription(
            platform, handle: "H", details: all.filter { platform.detailElements.contains($0.key) }, registrationID: "1-2-3",
            etag: "3")
        #expect(element(description) == expected(name, own))
        #expect(try RegistrationDescription.read(entry: Samples.entry(expected(name, own))) == description)
    }

    private static let headers = [
        HeaderField("n-1", "v<1>"), HeaderField("n-2", "v2"),
    ]

    private static func list(_ collection: String, _ item: String) -> String {
        "<\(collection)><\(item)><Header>n-1</Header><Value>v&lt;1&gt;</Value></\(item)>"
            + "<\(item)><Header>n-2</Header><Value>v2</Value></\(item)></\(collection)>"
    }

    @Test(
        "every template type has its elements in order",
        arguments: [
            (
                RegistrationPlatform.apple, "AppleTemplateRegistrationDescription",
                "<DeviceToken>H</DeviceToken><BodyTemplate><![CDATA[B]]></BodyTemplate><Expiry>E</Expiry>"
                    + "<TemplateName>N</TemplateName><Priority>5</Priority>" + list("ApnsHeaders", "ApnsHeader")
            ),
            (.gcm, "GcmTemplateRegistrationDescription", short("GcmRegistrationId")),
            (.fcm, "FcmTemplateRegistrationDescription", short("FcmRegistrationId")),
            (.fcmV1, "FcmV1TemplateRegistrationDescription", short("FcmV1RegistrationId")),
            (.adm, "AdmTemplateRegistrationDescription", short("AdmRegistrationId")),
            (.browser, "BrowserTemplateRegistrationDescription", short("Endpoint")),
            (.xiaomi, "XiaomiTemplateRegistrationDescription", short("XiaomiRegistrationId")),
            (
                .windows, "WindowsTemplateRegistrationDescription",
                "<ChannelUri>H</ChannelUri><BodyTemplate><![CDATA[B]]></BodyTemplate>" + list("WnsHeaders", "WnsHeader")
                    + "<TemplateName>N</TemplateName>"
            ),
            (
                .mpns, "MpnsTemplateRegistrationDescription",
                "<ChannelUri>H</ChannelUri><BodyTemplate><![CDATA[B]]></BodyTemplate>" + list("MpnsHeaders", "MpnsHeader")
                    + "<TemplateName>N</TemplateName>"
            ),
            (.baidu, "BaiduTemplateRegistrationDescription", short("BaiduUserId") + "<MessageType>1</MessageType>"),
        ])
    func template(platform: RegistrationPlatform, name: String, own: String) throws {
        var template = RegistrationTemplate(body: "B", name: "N")
        if [.apple, .windows, .mpns].contains(platform) { template.headers = Self.headers }
        if platform == .apple { (template.expiry, template.priority) = ("E", "5") }
        if platform == .baidu { template.messageType = "1" }
        let description = RegistrationDescription(
            platform, handle: "H", template: template, registrationID: "1-2-3", etag: "3")
        #expect(element(description) == expected(name, own))
        #expect(try RegistrationDescription.read(entry: Samples.entry(expected(name, own))) == description)
    }

    private static func short(_ handle: String) -> String {
        "<\(handle)>H</\(handle)><BodyTemplate><![CDATA[B]]></BodyTemplate><TemplateName>N</TemplateName>"
    }

    @Test("push variables stand after the tags, as JSON text")
    func pushVariables() throws {
        var description = RegistrationDescription(.apple, handle: "H", registrationID: "1-2-3", etag: "3", tags: ["a", "b:c"])
        description.pushVariables = #"{"lang":"nb","x":"<&>"}"#
        let own =
            #"<Tags>a,b:c</Tags><PushVariables>{"lang":"nb","x":"&lt;&amp;&gt;"}</PushVariables><DeviceToken>H</DeviceToken>"#
        #expect(element(description) == expected("AppleRegistrationDescription", own))
        #expect(try RegistrationDescription.read(entry: Samples.entry(element(description))) == description)
    }

    @Test("a collection of one header is left out where the JavaScript client would throw, and only there")
    func singleHeader() {
        var template = RegistrationTemplate(body: "B", headers: [HeaderField("apns-priority", "10")])
        var description = RegistrationDescription(.apple, handle: "H", template: template)
        #expect(!element(description).contains("ApnsHeaders"))
        #expect(
            element(description, omitsSingleHeader: false).contains(
                "<ApnsHeaders><ApnsHeader><Header>apns-priority</Header><Value>10</Value></ApnsHeader></ApnsHeaders>"))
        template.headers.append(HeaderField("apns-push-type", "alert"))
        description.template = template
        #expect(element(description).contains("<ApnsHeaders><ApnsHeader>"))
    }

    @Test("the expiry always has three digits and Z, whatever the moment")
    func expiry() throws {
        for (milliseconds, text) in [
            (Int64(1_772_359_200_000), "2026-03-01T10:00:00.000Z"), (1_772_359_200_120, "2026-03-01T10:00:00.120Z"),
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
        ] {
            var description = Samples.canonical
            description.expirationTime = Timestamp(milliseconds: milliseconds)
            #expect(element(description).contains("<ExpirationTime>\(text)</ExpirationTime>"))
        }
    }

    @Test("nothing of what breaks a client is ever written")
    func tolerance() {
        let feed = RegistrationEntry.feed(
            [RegistrationEntry(Samples.canonical, published: Samples.morning, updated: Samples.morning)],
            at: Samples.location("registrations"), updated: Samples.morning)
        #expect(!feed.contains("> <") && !feed.contains("\n") && !feed.contains("\r"), "white space breaks .NET")
        #expect(feed.contains("<Tags>city:Oslo,vip</Tags>"), "blanks after commas lose all tags in .NET")
        #expect(!feed.contains("<RegistrationDescription"), "Go crashes at the other form")
        #expect(feed.contains("<content type=\"application/xml\"><AppleTemplateRegistrationDescription xmlns="))
        let names = ["<ETag>", "<ExpirationTime>", "<RegistrationId>", "<Tags>", "<DeviceToken>", "<BodyTemplate>"]
        let places = names.compactMap { feed.firstRange(of: $0)?.lowerBound }
        #expect(places.count == names.count && places == places.sorted(), ".NET ignores what comes out of order")
    }
}
