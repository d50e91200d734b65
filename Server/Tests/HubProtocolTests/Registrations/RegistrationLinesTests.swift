import ClarionTesting
import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Lines of import and export files")
struct RegistrationLinesTests {
    @Test("a line is the typed form, to the byte")
    func golden() {
        let expected = #"""
            <RegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="AppleTemplateRegistrationDescription"><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>7481203-1183-2</RegistrationId><Tags>city:Oslo,vip</Tags><DeviceToken>0A1B2C3D</DeviceToken><BodyTemplate><![CDATA[{"aps":{"alert":"$(text)"}}]]></BodyTemplate><Expiry>$(until)</Expiry><TemplateName>short</TemplateName></RegistrationDescription>
            """#
        #expect(RegistrationLines.line(Samples.canonical) == expected + "\n")
    }

    @Test("a line keeps single headers and line ends inside values")
    func faithful() throws {
        var description = Samples.canonical
        description.template = RegistrationTemplate(
            body: "{\n \"a\": \"]]>\"\r\n}", headers: [HeaderField("apns-priority", "5")])
        let line = RegistrationLines.line(description)
        #expect(line.utf8.count(where: { $0 == 0x0A || $0 == 0x0D }) == 1)
        #expect(try RegistrationLines.read(Array(line.utf8)) == description)
    }

    @Test("a line that deletes needs neither handle nor template")
    func deletes() throws {
        let text = Samples.description("WindowsTemplateRegistrationDescription", "<RegistrationId>1-2-3</RegistrationId>")
        #expect(try RegistrationLines.readID(Array(text.utf8)) == "1-2-3")
        #expect(throws: HubDocumentError.self) { try RegistrationLines.read(Array(text.utf8)) }
        let naming = RegistrationLines.line(naming: "1-2-3")
        #expect(
            naming
                == "<RegistrationDescription xmlns=\"\(Samples.serviceBus)\"><RegistrationId>1-2-3</RegistrationId></RegistrationDescription>\n"
        )
        #expect(try RegistrationLines.readID(Array(naming.utf8)) == "1-2-3")
        for other in ["<Other/>", Samples.description("AppleRegistrationDescription", "")] {
            #expect(throws: HubDocumentError.self) { try RegistrationLines.readID(Array(other.utf8)) }
        }
    }

    @Test("a remark behind a line changes nothing in it, whatever the remark says")
    func remarks() throws {
        let line = Array(RegistrationLines.line(Samples.canonical).utf8.dropLast())
        for remark in ["line 7: no", "a -- b --> <x/> ---", "two\nlines", "-"] {
            let text = RegistrationLines.line(line, remark: remark)
            #expect(text.utf8.count(where: { $0 == 0x0A }) == 1)
            #expect(try RegistrationLines.read(Array(text.utf8)) == Samples.canonical)
            do throws(HubDocumentError) {
                _ = try RegistrationLines.read(Array(RegistrationLines.line(nil, remark: remark).utf8))
                Issue.record("a remark alone is no registration")
            } catch {
                #expect(error.isEmpty)
            }
        }
    }
}
