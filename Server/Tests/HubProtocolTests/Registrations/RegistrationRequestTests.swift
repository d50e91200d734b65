import RichPushModel
import Testing

@testable import WireText
@testable import HubProtocol

@Suite("Registration requests of every client")
struct RegistrationRequestTests {
    private func read(_ text: String) throws -> RegistrationDescription {
        try RegistrationDescription.read(entry: Array(text.utf8))
    }

    @Test(".NET names the type in an attribute and sends nulls and an empty collection")
    func dotNet() throws {
        var expected = Samples.canonical
        expected.handle = "0a1b2c3d"
        expected.registrationID = nil
        expected.template?.expiry = nil
        #expect(try read(Samples.typedEntry) == expected)
    }

    @Test(".NET may qualify the type and prefix the elements")
    func dotNetPrefixes() throws {
        let text = """
            <a:entry xmlns:a="http://www.w3.org/2005/Atom"><a:content type = "application/xml" >
            <s:RegistrationDescription xmlns:s="\(Samples.serviceBus)" xmlns:x="\(Samples.instance)" x:type="s:GcmRegistrationDescription">
            <s:GcmRegistrationId>G</s:GcmRegistrationId></s:RegistrationDescription></a:content></a:entry>
            """
        #expect(try read(text) == RegistrationDescription(.gcm, handle: "G"))
    }

    @Test("Java puts tags first and the body in CDATA")
    func java() throws {
        let text = """
            <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
            <AppleTemplateRegistrationDescription xmlns:i="\(Samples.instance)" xmlns="\(Samples.serviceBus)">\
            <Tags>vip,city:Oslo</Tags><DeviceToken>AA</DeviceToken><BodyTemplate><![CDATA[{"aps":{"alert":"$(a)"}}]]></BodyTemplate>\
            <Expiry>2026-03-01</Expiry></AppleTemplateRegistrationDescription></content></entry>
            """
        let template = RegistrationTemplate(body: #"{"aps":{"alert":"$(a)"}}"#, expiry: "2026-03-01")
        #expect(
            try read(text) == RegistrationDescription(.apple, handle: "AA", template: template, tags: ["vip", "city:Oslo"]))
    }

    @Test("Java's unescaped values and its unmatched end tag are malformed, with line and column")
    func javaMalformed() {
        let unmatched = "<ChannelUri>u</ChannelUri><BodyTemplate><![CDATA[<b/>]]></BodyTemplate></WnsHeaders>"
        let entry = Samples.entry(Samples.description("WindowsTemplateRegistrationDescription", unmatched))
        do throws(HubDocumentError) {
            _ = try RegistrationDescription.read(entry: entry)
            Issue.record("the unmatched end tag was accepted")
        } catch {
            guard case .malformed(let fault) = error else {
                Issue.record("another error: \(error)")
                return
            }
            #expect(fault.problem == .mismatchedEnd(expected: "WindowsTemplateRegistrationDescription"))
            #expect(error.description.contains("line 1, column "))
        }
        #expect(throws: HubDocumentError.self) {
            try RegistrationDescription.read(
                entry: Samples.entry(
                    Samples.description("AppleRegistrationDescription", "<Tags>a&b</Tags><DeviceToken>AA</DeviceToken>")))
        }
    }

    @Test("JavaScript puts an extra element before the content")
    func javaScript() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?><entry xmlns="http://www.w3.org/2005/Atom">\
            <updated>2026-03-01T10:00:00.000Z</updated><content type="application/xml">\
            \(Samples.description("BrowserRegistrationDescription", "<Auth>a</Auth><P256DH>p</P256DH><Endpoint>https://e?x=1&amp;y</Endpoint>"))\
            </content></entry>
            """
        let details = ["P256DH": "p", "Auth": "a"]
        #expect(try read(text) == RegistrationDescription(.browser, handle: "https://e?x=1&y", details: details))
    }

    @Test("iOS and Android (legacy) label the content as text and order template elements otherwise")
    func legacyPhones() throws {
        let own = """
            <Tags>a, b ,,c,</Tags><DeviceToken>AA</DeviceToken><BodyTemplate><![CDATA[{}]]></BodyTemplate><Expiry>0</Expiry>\
            <Priority>10</Priority><TemplateName>t</TemplateName>
            """
        let text = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml">\
            \(Samples.description("AppleTemplateRegistrationDescription", own))</content></entry>
            """
        let template = RegistrationTemplate(body: "{}", name: "t", expiry: "0", priority: "10")
        #expect(
            try read(text) == RegistrationDescription(.apple, handle: "AA", template: template, tags: ["a", "b", "c"]))
    }

    @Test("Go and PHP indent, and send an empty tag element")
    func pretty() throws {
        let text = """
            <?xml version="1.0" encoding="utf-8"?>
            <entry xmlns="http://www.w3.org/2005/Atom">
              <content type="application/xml">
                <AppleRegistrationDescription xmlns:i="\(Samples.instance)" xmlns="\(Samples.serviceBus)">
                  <Tags></Tags>
                  <DeviceToken>
                    AA
                  </DeviceToken>
                </AppleRegistrationDescription>
              </content>
            </entry>

            """
        #expect(try read(text) == RegistrationDescription(.apple, handle: "AA"))
        #expect(try read(text.replacing("\n", with: "\r\n")) == RegistrationDescription(.apple, handle: "AA"))
    }

    @Test("unknown elements, such as the credential's name of the legacy Node client, are ignored")
    func unknownElements() throws {
        let own = "<PnsCredentialName>x</PnsCredentialName><New><Deep/></New><DeviceToken>AA</DeviceToken>"
        let entry = Samples.entry(Samples.description("AppleRegistrationDescription", own))
        #expect(try RegistrationDescription.read(entry: entry) == RegistrationDescription(.apple, handle: "AA"))
    }

    @Test("an expiry is read in every precision; the year 9999 is never")
    func expiry() throws {
        for (text, milliseconds) in [
            ("2026-03-01T10:00:00.000Z", Int64(1_772_359_200_000)), ("2026-03-01T10:00:00.1234567Z", 1_772_359_200_123),
            ("2026-03-01T10:00:00", 1_772_359_200_000), ("2026-03-01T11:00:00+01:00", 1_772_359_200_000),
        ] {
            let own = "<ExpirationTime>\(text)</ExpirationTime><DeviceToken>AA</DeviceToken>"
            let entry = Samples.entry(Samples.description("AppleRegistrationDescription", own))
            #expect(try RegistrationDescription.read(entry: entry).expirationTime?.milliseconds == milliseconds)
        }
        for text in ["9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59.999Z", ""] {
            let own = "<ExpirationTime>\(text)</ExpirationTime><DeviceToken>AA</DeviceToken>"
            let entry = Samples.entry(Samples.description("AppleRegistrationDescription", own))
            #expect(try RegistrationDescription.read(entry: entry).expirationTime == nil)
        }
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (
                "<HuaweiRegistrationDescription xmlns='\(Samples.serviceBus)'/>",
                "The registration type HuaweiRegistrationDescription"
            ),
            ("<RegistrationDescription xmlns='\(Samples.serviceBus)'/>", "The registration type RegistrationDescription"),
            ("<AppleRegistrationDescription xmlns='urn:x'/>", "The registration type AppleRegistrationDescription"),
            (Samples.description("AppleRegistrationDescription", ""), "has no DeviceToken"),
            (Samples.description("AppleRegistrationDescription", "<DeviceToken> </DeviceToken>"), "has no DeviceToken"),
            (
                Samples.description("AppleTemplateRegistrationDescription", "<DeviceToken>A</DeviceToken>"), "has no BodyTemplate"
            ),
            (
                Samples.description(
                    "AppleRegistrationDescription", "<ExpirationTime>soon</ExpirationTime><DeviceToken>A</DeviceToken>"),
                "ExpirationTime at line 1, column"
            ),
            ("", "content at line 1, column 44 has no description"),
        ])
    func mistakes(description: String, words: String) {
        do throws(HubDocumentError) {
            _ = try RegistrationDescription.read(entry: Samples.entry(description))
            Issue.record("it was taken")
        } catch {
            #expect(error.description.contains(words), "\(error.description)")
        }
    }

    @Test("a document that is no entry is named; a too long one has another error")
    func otherDocuments() {
        #expect(throws: HubDocumentError.unexpectedElement("feed", expected: "entry", XMLPosition(line: 1, column: 1))) {
            try read("<feed xmlns='http://www.w3.org/2005/Atom'/>")
        }
        do throws(HubDocumentError) {
            _ = try RegistrationDescription.read(entry: Array(Samples.typedEntry.utf8), limits: XMLLimits(bytes: 100))
            Issue.record("it was taken")
        } catch {
            #expect(error.isTooLarge)
        }
    }

    @Test("what this product's own client sends is read as it was meant")
    func ownRequests() throws {
        var description = Samples.canonical
        description.etag = nil
        description.template?.headers = [HeaderField("apns-priority", "5")]
        #expect(try read(description.request()) == description)
    }
}
