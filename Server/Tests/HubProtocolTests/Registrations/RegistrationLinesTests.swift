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
            body: "{\n \"a\": \"]]>\"\r\n}", headers: [RegistrationTemplate.Header(name: "apns-priority", value: "5")])
        let line = RegistrationLines.line(description)
        #expect(line.utf8.count(where: { $0 == 0x0A || $0 == 0x0D }) == 1)
        #expect(try RegistrationLines.read(Array(line.utf8)) == description)
    }

    @Test("a line that deletes needs neither handle nor template")
    func deletes() throws {
        let text = Samples.description("WindowsTemplateRegistrationDescription", "<RegistrationId>1-2-3</RegistrationId>")
        #expect(try RegistrationLines.read(Array(text.utf8), isComplete: false).registrationID == "1-2-3")
        #expect(throws: HubDocumentError.self) { try RegistrationLines.read(Array(text.utf8)) }
    }

    @Test("a file in pieces of any size gives the same lines, and every end is a place to go on from")
    func pieces() throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        let file = Array("\u{FEFF}one\r\n\n  \ntwo\nis too long a line\n three \nlast".utf8)
        let expected: [LineSplitter.Line] = [
            .init(number: 1, bytes: Array("one".utf8), end: 8), .init(number: 4, bytes: Array("two".utf8), end: 16),
            .init(number: 5, bytes: nil, end: 35), .init(number: 6, bytes: Array("three".utf8), end: 43),
            .init(number: 7, bytes: Array("last".utf8), end: 47),
        ]
        for _ in 0..<200 {
            var splitter = LineSplitter(limit: 10)
            #expect(Self.lines(file[...], &splitter, &generator) == expected, "seed \(generator.seed)")
        }
        for (index, line) in expected.enumerated() {
            var splitter = LineSplitter(limit: 10, after: line.number, offset: line.end)
            #expect(Self.lines(file[line.end...], &splitter, &generator) == Array(expected[(index + 1)...]))
        }
    }

    private static func lines(
        _ file: ArraySlice<UInt8>, _ splitter: inout LineSplitter, _ generator: inout SeededGenerator
    ) -> [LineSplitter.Line] {
        var lines: [LineSplitter.Line] = []
        var rest = file
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &generator))
            rest = rest.dropFirst(piece.count)
            splitter.append(piece)
            while let line = splitter.next() { lines.append(line) }
        }
        if let line = splitter.finish() { lines.append(line) }
        return lines
    }
}
