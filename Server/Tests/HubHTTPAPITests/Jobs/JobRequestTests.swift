import ClarionTesting
import Foundation
import HTTPTypes
import HubProtocol
import PushHub
import RichPushModel
import TagExpressions
import Testing

@Suite("Import and export through the hub protocol")
struct JobRequestTests {
    /// A registration as a line, to the byte as an export writes it.
    private static func line(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        let handle = String(repeating: "0", count: 64 - digits.count) + digits
        var description = RegistrationDescription(
            .apple, handle: handle, registrationID: "\(number)-5-1", etag: "1", tags: ["all", "part:\(number % 100)"])
        if number.isMultiple(of: 5) {
            description.template = RegistrationTemplate(
                body: #"{"aps":{"alert":"$(text)"}}"#, name: "short", headers: [HeaderField("apns-priority", "5")],
                expiry: "$(until)")
        }
        if number.isMultiple(of: 7) { description.expirationTime = Timestamp(milliseconds: 1_900_000_000_120) }
        if number.isMultiple(of: 11) {
            description = RegistrationDescription(
                .fcm, handle: "token-\(number)", registrationID: "\(number)-5-1", etag: "1", tags: ["all"])
        }
        return RegistrationLines.line(description)
    }

    @Test("100,000 registrations go in and come out equal, from several files, line by line")
    func roundTrip() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        var expected: Set<String> = []
        for file in 0..<4 {
            var text = ""
            for number in 0..<25_000 {
                let line = Self.line(file * 25_000 + number)
                text += line
                expected.insert(String(line.dropLast()))
            }
            let put = try await bench.call(
                .put, JobBench.target(container, "in/\(file).txt"), text, as: .anonymous,
                headers: [.init("x-ms-blob-type")!: "BlockBlob"])
            #expect(put.status == .created)
        }
        let accepted = try await bench.submit(.importCreateRegistrations, output: container, file: container + "&prefix=in/")
        #expect(accepted.status == .started)
        #expect(accepted.progress == 0)
        #expect(await bench.jobs.runNext())
        let imported = try await bench.job(accepted.id)
        #expect(imported.status == .completed)
        #expect(imported.progress == 100)
        #expect(imported.failure == nil)
        #expect(try await bench.file(imported, "FailedFilePath").isEmpty)
        let output = try await bench.file(imported, "OutputFilePath").split(separator: "\n").map(String.init)
        #expect(output.count == 100_000)
        #expect(Set(output) == expected)
        let export = try await bench.submit(.exportRegistrations, output: try await bench.makeContainer())
        #expect(await bench.jobs.runNext())
        let lines = try await bench.file(try await bench.job(export.id), "OutputFilePath").split(separator: "\n").map(String.init)
        #expect(lines.count == 100_000)
        #expect(Set(lines) == expected)
        #expect(await !bench.jobs.runNext())
    }

    /// The lines of an installation as an export of Azure's service has them: the native registration and one for each template.
    private static func lines(ofInstallation id: String) -> [String] {
        let address = "$InstallationId:{\(id)},$UserId:{Ann}"
        let handle = String(repeating: "AB", count: 32)
        let native = RegistrationDescription(
            .apple, handle: handle, registrationID: "1-2-1", etag: "4", tags: [address, "red", "vip"])
        var template = RegistrationDescription(
            .apple, handle: handle, registrationID: "1-2-2", etag: "4", tags: [address, "red", "vip", "short", "own"])
        template.template = RegistrationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#, name: "short")
        return [native, template].map(RegistrationLines.line)
    }

    private func importing(
        _ lines: [String], _ type: HubJobDocument.JobType = .importCreateRegistrations, _ bench: JobBench
    ) async throws -> (output: String, failed: String) {
        let container = try await bench.makeContainer()
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), lines.joined(), as: .anonymous)
        let job = try await bench.submit(type, output: container, file: JobBench.link(container, file: "in.txt"))
        #expect(await bench.jobs.runNext())
        let done = try await bench.job(job.id)
        return (try await bench.file(done, "OutputFilePath"), try await bench.file(done, "FailedFilePath"))
    }

    @Test("the lines of an installation become that installation, in either order and again", arguments: [false, true])
    func installations(isReversed: Bool) async throws {
        let bench = try await JobBench()
        let lines = Self.lines(ofInstallation: "phone-1")
        for type in [HubJobDocument.JobType.importCreateRegistrations, .importUpsertRegistrations] {
            let (output, failed) = try await importing(isReversed ? lines.reversed() : lines, type, bench)
            #expect(failed.isEmpty)
            #expect(output.split(separator: "\n").count == 2)
            let id = try #require(RecordID("phone-1"))
            let content = try #require(try await bench.hub.installation(id)).content
            #expect(content.handle?.text == String(repeating: "AB", count: 32))
            #expect(content.platform == .apns)
            #expect(content.userID == "Ann")
            #expect(content.tags.map(\.text) == ["red", "vip"])
            #expect(content.templates.keys.sorted() == ["short"])
            #expect(content.templates["short"]?.tags.map(\.text) == ["own"])
            #expect(content.templates["short"]?.template.body == #"{"aps":{"alert":"$(text)"}}"#)
        }
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == 2)
        for audience in ["$InstallationId:{phone-1}", "$UserId:{Ann} && vip"] {
            let found = try await bench.hub.sample(try TagExpression(parsing: audience), format: .native(.apns))
            #expect(found.map(\.id.text) == ["phone-1"])
        }
        #expect(try await bench.hub.sample(try TagExpression(parsing: "own && red"), format: .template).count == 1)
    }

    @Test("what an app has registered itself is newer than an export, and stays")
    func newerInstallations() async throws {
        let bench = try await JobBench()
        let lines = Self.lines(ofInstallation: "phone-1")
        _ = try await importing(lines, .importUpsertRegistrations, bench)
        let body = #"{"installationId":"phone-1","platform":"apns","pushChannel":"\#(String(repeating: "CD", count: 32))"}"#
        #expect(try await bench.call(.put, "/demo/installations/phone-1?api-version=2020-06", body).status == .ok)
        let (output, failed) = try await importing(lines, .importUpsertRegistrations, bench)
        #expect(output.isEmpty)
        #expect(failed.split(separator: "\n").allSatisfy { $0.contains("the app has registered this installation here already") })
        let phone = try #require(RecordID("phone-1"))
        let content = try #require(try await bench.hub.installation(phone)).content
        #expect(content.handle?.text == String(repeating: "CD", count: 32))
        #expect(content.templates.isEmpty)
        #expect(content.tags.isEmpty)
    }

    @Test("a line of an installation that cannot be one fails with its reason")
    func brokenInstallations() async throws {
        let bench = try await JobBench()
        let lines = Self.lines(ofInstallation: "phone-1")
        let broken = [
            lines[0].replacing("$InstallationId:{phone-1},", with: ""),
            lines[1].replacing("<TemplateName>short</TemplateName>", with: ""),
        ]
        let failed = try await importing(broken, .importUpsertRegistrations, bench).failed.split(separator: "\n")
        #expect(failed.count == 2)
        for (line, word) in zip(failed, ["the line names none", "has no TemplateName"]) {
            #expect(line.contains(word), "\(line)")
        }
        let missing = try await importing([lines[0]], .importUpdateRegistrations, bench).failed
        #expect(missing.contains("there is no such installation"))
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == 0)
    }

    @Test("a line of a browser to which nothing could be sent fails with its reason", arguments: [true, false])
    func browsers(isInstallation: Bool) async throws {
        let bench = try await JobBench()
        let lines = ["AAAA", SampleSubscription.publicKey].map { key in
            RegistrationLines.line(
                RegistrationDescription(
                    .browser, handle: "https://fcm.googleapis.com/x",
                    details: ["P256DH": key, "Auth": SampleSubscription.secret],
                    registrationID: isInstallation ? nil : key, tags: isInstallation ? ["$InstallationId:{\(key)}"] : []))
        }
        let (output, failed) = try await importing(lines, .importCreateRegistrations, bench)
        #expect(output.split(separator: "\n").count == 1 && output.contains(SampleSubscription.publicKey), "\(output)")
        #expect(failed.split(separator: "\n").count == 1)
        #expect(failed.contains("line 1: the subscription of a browser"), "\(failed)")
    }

    @Test("lines that fail are in their file with line and reason, and can be imported again")
    func failures() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        let good = Self.line(1)
        let lines = [
            good, "\n", "<broken\n", good, Self.line(2).replacing("<DeviceToken>", with: "<DeviceToken>XYZ"),
            Self.line(3).replacing("<Tags>", with: "<Tags>$InstallationId:{},"), "<!-- only a remark -->\n",
            Self.line(4).replacing("DeviceToken>", with: "Devicetoken>"), String(repeating: "x", count: 300_000) + "\n",
        ]
        _ = try await bench.call(.put, JobBench.target(container, "in.txt"), lines.joined(), as: .anonymous)
        let job = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "in.txt"))
        #expect(await bench.jobs.runNext())
        let done = try await bench.job(job.id)
        #expect(done.status == .completed)
        #expect(try await bench.file(done, "OutputFilePath") == good)
        let failed = try await bench.file(done, "FailedFilePath")
        let words = [
            "line 3: The XML cannot be read", "line 4: there is such a device already", "line 5: DeviceToken is not a handle",
            "line 6: tag 1 of the list: only $InstallationId:{…}", "line 8: ", "line 9: the line has more than 262144 bytes",
        ]
        let found = failed.split(separator: "\n")
        #expect(found.count == words.count)
        for (line, word) in zip(found, words) { #expect(line.contains("<!-- \(word)"), "\(line.prefix(400))") }
        // The corrected file of failures is a valid import.
        _ = try await bench.call(
            .put, JobBench.target(container, "again.txt"), failed.replacing("<DeviceToken>XYZ", with: "<DeviceToken>"),
            as: .anonymous)
        let again = try await bench.submit(
            .importCreateRegistrations, output: container, file: JobBench.link(container, file: "again.txt"))
        #expect(await bench.jobs.runNext())
        #expect(try await bench.file(try await bench.job(again.id), "OutputFilePath") == Self.line(2))
    }

    @Test("update, upsert and delete do what their names say")
    func kinds() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        func run(_ type: HubJobDocument.JobType, _ text: String) async throws -> (output: String, failed: String) {
            _ = try await bench.call(.put, JobBench.target(container, "in.txt"), text, as: .anonymous)
            let job = try await bench.submit(type, output: container, file: JobBench.link(container, file: "in.txt"))
            #expect(await bench.jobs.runNext())
            let done = try await bench.job(job.id)
            return (try await bench.file(done, "OutputFilePath"), try await bench.file(done, "FailedFilePath"))
        }
        let update = try await run(.importUpdateRegistrations, Self.line(1))
        #expect(update.output.isEmpty)
        #expect(update.failed.contains("line 1: there is no such device"))
        #expect(try await run(.importUpsertRegistrations, Self.line(1)).output == Self.line(1))
        let second = Self.line(1).replacing("<ETag>1<", with: "<ETag>2<")
        #expect(try await run(.importUpsertRegistrations, Self.line(1)).output == second)
        #expect(try await run(.importUpdateRegistrations, Self.line(1)).output.contains("<ETag>3</ETag>"))
        let nameless = Self.line(2).replacing("<RegistrationId>2-5-1</RegistrationId>", with: "")
        #expect(try await run(.importUpdateRegistrations, nameless).failed.contains("line 1: the line has no RegistrationId"))
        #expect(try await run(.importCreateRegistrations, nameless + nameless).output.split(separator: "\n").count == 2)
        let deleted = try await run(.importDeleteRegistrations, Self.line(1) + RegistrationLines.line(naming: "unknown"))
        #expect(deleted.output == RegistrationLines.line(naming: "1-5-1"))
        #expect(deleted.failed.contains("line 2: there is no such device"))
        #expect(try await bench.deviceStore.count(in: bench.hub.id) == 2)
    }

    @Test("jobs are listed, found by number and refused to a key without the right")
    func lists() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        let document = HubJobDocument(.exportRegistrations, outputContainer: container)
        let answer = try await bench.call(.post, "/Demo/Jobs/?api-version=2014-09", document.request())
        #expect(answer.status == .created)
        #expect(answer.headers[.location]?.hasSuffix("/Demo/Jobs/1?api-version=2014-09") == true)
        let feed = try await bench.call(.get, "/demo/jobs")
        let listed = try HubJobDocument.read(feed: Array(feed.body.readableBytesView))
        #expect(listed.map(\.id) == ["1"])
        #expect(listed.first?.status == .started)
        #expect(try await bench.call(.get, "/demo/jobs/1").status == .ok)
        for id in ["2", "x", "01", "+1"] {
            #expect(try await bench.call(.get, "/demo/jobs/\(id)").status == .notFound, "\(id)")
        }
        for method in [HTTPRequest.Method.get, .post] {
            #expect(try await bench.call(method, "/demo/jobs", document.request(), as: .listen).status == .forbidden)
        }
        #expect(try await bench.call(.post, "/$containers/demo", as: .listen).status == .forbidden)
    }

    @Test("links that are not this server's own are refused with their element's name")
    func foreign() async throws {
        let bench = try await JobBench()
        let container = try await bench.makeContainer()
        let other = try await bench.makeContainer("other")
        let file = JobBench.link(container, file: "in.txt")
        let cases: [(output: String, file: String?, words: String)] = [
            ("https://store.example.test/box?sig=x", nil, "OutputContainerUri is not a container of this server"),
            ("box", nil, "OutputContainerUri is not an absolute URL"),
            (other, nil, "OutputContainerUri is a container of another hub"),
            (container.replacing("sp=rwl", with: "sp=rw"), nil, "OutputContainerUri: the link's signature"),
            (JobBench.link(container, file: "x"), nil, "OutputContainerUri is a file"),
            (container, "https://store.example.test/box/in.txt?sig=x", "ImportFileUri is not a container of this server"),
            (container, file, "ImportFileUri: there is no such file"),
            (container, container, "ImportFileUri: the container has no files"),
        ]
        for (output, file, words) in cases {
            let document = HubJobDocument(
                file == nil ? .exportRegistrations : .importUpsertRegistrations, outputContainer: output, importFile: file)
            let answer = try await bench.call(.post, "/demo/jobs", document.request())
            #expect(answer.status == .badRequest)
            #expect(String(buffer: answer.body).contains(words), "\(String(buffer: answer.body))")
        }
        bench.clock.advance(by: .seconds(8 * 86_400))
        let late = HubJobDocument(.exportRegistrations, outputContainer: container)
        let answer = try await bench.call(.post, "/demo/jobs", late.request())
        #expect(String(buffer: answer.body).contains("OutputContainerUri: the link has expired"))
    }
}
