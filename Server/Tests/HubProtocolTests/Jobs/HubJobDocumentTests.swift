import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Jobs, to the byte")
struct HubJobDocumentTests {
    private static let job = {
        var job = HubJobDocument(
            .importUpsertRegistrations, outputContainer: "https://push.example.test/$containers/demo/c?sig=a&se=1",
            importFile: "https://push.example.test/$containers/demo/c/in.txt?sig=a&se=1")
        job.id = "17"
        job.progress = 33.48
        job.status = .running
        job.outputProperties = [
            HeaderField("OutputFilePath", "demo/17/Output.txt"), HeaderField("FailedFilePath", "demo/17/Failed.txt"),
        ]
        job.createdAt = Samples.morning
        job.updatedAt = Samples.morning + .milliseconds(1500)
        return job
    }()

    private static let content = #"""
        <content type="application/xml"><NotificationHubJob xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><JobId>17</JobId><Progress>33.4</Progress><Type>ImportUpsertRegistrations</Type><Status>Running</Status><OutputContainerUri>https://push.example.test/$containers/demo/c?sig=a&amp;se=1</OutputContainerUri><ImportFileUri>https://push.example.test/$containers/demo/c/in.txt?sig=a&amp;se=1</ImportFileUri><OutputProperties xmlns:d3p1="http://schemas.microsoft.com/2003/10/Serialization/Arrays"><d3p1:KeyValueOfstringstring><d3p1:Key>OutputFilePath</d3p1:Key><d3p1:Value>demo/17/Output.txt</d3p1:Value></d3p1:KeyValueOfstringstring><d3p1:KeyValueOfstringstring><d3p1:Key>FailedFilePath</d3p1:Key><d3p1:Value>demo/17/Failed.txt</d3p1:Value></d3p1:KeyValueOfstringstring></OutputProperties><CreatedAt>2026-03-01T10:00:00Z</CreatedAt><UpdatedAt>2026-03-01T10:00:01.5Z</UpdatedAt></NotificationHubJob></content>
        """#

    private static let head = #"""
        <id>https://push.example.test/demo/jobs/17?api-version=2020-06</id><title type="text">17</title><published>2026-03-01T10:00:00Z</published><updated>2026-03-01T10:00:01Z</updated><link rel="self" href="https://push.example.test/demo/jobs/17?api-version=2020-06"/>
        """#

    private static var expected: HubJobDocument {
        var expected = job
        expected.progress = 33.4
        return expected
    }

    @Test("one job")
    func entry() throws {
        let answer = "<entry xmlns=\"http://www.w3.org/2005/Atom\">" + Self.head + Self.content + "</entry>"
        #expect(Self.job.answer(at: Samples.location("jobs")) == answer)
        #expect(try HubJobDocument.read(entry: Array(answer.utf8)) == Self.expected)
    }

    @Test("the list of jobs")
    func feed() throws {
        let feed = HubJobDocument.feed([Self.job], at: Samples.location("jobs"), updated: Samples.morning)
        #expect(feed.hasSuffix("<entry>" + Self.head + Self.content + "</entry></feed>"))
        #expect(try HubJobDocument.read(feed: Array(feed.utf8)) == [Self.expected])
    }

    @Test("progress is a whole number or has one digit", arguments: [(0.0, "0"), (100.0, "100"), (99.99, "99.9"), (50.0, "50")])
    func progress(value: Double, text: String) {
        var job = Self.job
        job.progress = value
        #expect(job.request().contains("<Progress>\(text)</Progress>"))
    }

    @Test(".NET, Java and JavaScript submit jobs, each in its way")
    func requests() throws {
        let open = "<NotificationHubJob xmlns=\"\(Samples.serviceBus)\" xmlns:i=\"\(Samples.instance)\">"
        let dotNet = """
            <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom">\
            <content type = "application/xml">\(open)<Type>ExportRegistrations</Type><Status>Started</Status>\
            <OutputContainerUri>https://c?a&amp;b</OutputContainerUri></NotificationHubJob></content></entry>
            """
        var expected = HubJobDocument(.exportRegistrations, outputContainer: "https://c?a&b")
        expected.status = .started
        #expect(try HubJobDocument.read(entry: Array(dotNet.utf8)) == expected)
        let java = """
            <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom">\
            <content type="application/atom+xml;type=entry;charset=utf-8">\(open)<Type>ImportCreateRegistrations</Type>\
            <OutputContainerUri><![CDATA[https://c?a&b]]></OutputContainerUri>\
            <ImportFileUri><![CDATA[https://f?a&b]]></ImportFileUri></NotificationHubJob></content></entry>
            """
        #expect(
            try HubJobDocument.read(entry: Array(java.utf8))
                == HubJobDocument(.importCreateRegistrations, outputContainer: "https://c?a&b", importFile: "https://f?a&b"))
    }

    @Test(
        "a job of an unknown type, without a container or without a file is refused",
        arguments: [
            "<Type>Copy</Type><OutputContainerUri>c</OutputContainerUri>", "<Type>ExportRegistrations</Type>",
            "<OutputContainerUri>c</OutputContainerUri>",
            "<Type>ImportDeleteRegistrations</Type><OutputContainerUri>c</OutputContainerUri>",
            "<Type>ExportRegistrations</Type><OutputContainerUri>c</OutputContainerUri><Progress>101</Progress>",
        ])
    func mistakes(content: String) {
        #expect(throws: HubDocumentError.self) {
            try HubJobDocument.read(entry: Samples.entry(Samples.description("NotificationHubJob", content)))
        }
    }
}
