import AsyncHTTPClient
import FCMEmulation
import Foundation
import HubProtocol
import NIOCore
import Testing

/// The Android devices of a hub at Azure's service, moved here by the file of its export.
struct AndroidMoveTests {
    @Test("Android devices in an export of Azure's service are imported by a job, and receive through the hub's own account")
    func story() async throws {
        try await TemporaryFolder.use { folder in
            let place = try await AndroidPlace(in: folder)
            let server = try await HubServer.start(in: folder, hubs: ["demo"], environment: place.environment)
            let keyPath = folder + "/firebase.json"
            try place.keyFile.write(toFile: keyPath, atomically: true, encoding: .utf8)
            try await server.command(["hub", "set-fcm", "demo", "--key-path", keyPath], environment: place.environment)
            try await importExport(of: place, at: server)

            try await send("fcmv1", #"{"message":{"data":{"text":"native"}}}"#, at: server)
            try await expect(["installed native", "native native"], at: place)
            try await send("template", #"{"text":"filled"}"#, at: server)
            try await expect(["installed filled", "legacy-template filled", "template filled"], at: place)
            try await send("gcm", #"{"data":{"text":"legacy"}}"#, at: server)
            try await expect(["legacy legacy"], at: place)
            #expect(await server.process.terminate() == 0)
            await place.fcm.shutdown()
        }
    }

    /// Takes over one record of each kind: with and without a template, of both interfaces of Google's, and an installation.
    private func importExport(of place: AndroidPlace, at server: HubServer) async throws {
        let installation = "$InstallationId:{phone-1},$UserId:{Ann},vip"
        let present = ("BodyTemplate", #"<![CDATA[{"message":{"data":{"text":"$(text)"}}}]]>"#)
        let former = ("BodyTemplate", #"<![CDATA[{"data":{"text":"$(text)"}}]]>"#)
        let name = ("TemplateName", "short")
        let lines = try [
            line("FcmV1RegistrationDescription", [("FcmV1RegistrationId", token("native", place))]),
            line("FcmV1TemplateRegistrationDescription", [("FcmV1RegistrationId", token("template", place)), present, name]),
            line("GcmRegistrationDescription", [("GcmRegistrationId", token("legacy", place))]),
            line("GcmTemplateRegistrationDescription", [("GcmRegistrationId", token("legacy-template", place)), former, name]),
            line("FcmV1RegistrationDescription", tags: installation, [("FcmV1RegistrationId", token("installed", place))]),
            line(
                "FcmV1TemplateRegistrationDescription", tags: installation,
                [("FcmV1RegistrationId", token("installed", place)), present, name]),
        ]
        let numbered = lines.enumerated().map { $1.replacing("NUMBER", with: "\($0 + 1)") }
        let caller = JobCaller(server: server)
        let container = try await caller.makeContainer()
        let file = JobCaller.file("Output.txt", in: container)
        #expect(try await JobCaller.call(.PUT, file, numbered.joined()).status == .created)
        let job = try await caller.submit(
            HubJobDocument(.importUpsertRegistrations, outputContainer: container, importFile: file))
        let ended = try await caller.ended(job.id)
        #expect(ended.status == .completed, "\(ended.failure ?? "")")
        #expect(try await JobCaller.output(of: ended).count == lines.count)
    }

    private func token(_ phone: String, _ place: AndroidPlace) throws -> String { try #require(try place.phone(phone).token) }

    /// A line as Azure's service writes it.
    private func line(_ type: String, tags: String = "vip", _ elements: [(name: String, text: String)]) -> String {
        let own = elements.map { "<\($0.name)>\($0.text)</\($0.name)>" }.joined()
        return """
            <RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="\(type)" \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag>1</ETag>\
            <ExpirationTime>9999-12-31T23:59:59.9999999</ExpirationTime><RegistrationId>1-2-NUMBER</RegistrationId>\
            <Tags>\(tags)</Tags>\(own)</RegistrationDescription>

            """
    }

    private func send(_ format: String, _ body: String, at server: HubServer) async throws {
        var request = HTTPClientRequest(url: server.url("/demo/messages?api-version=2020-06"))
        request.method = .POST
        request.headers.add(name: "Authorization", value: server.token("demo", path: "demo"))
        request.headers.add(name: "ServiceBusNotification-Format", value: format)
        request.headers.add(name: "ServiceBusNotification-Tags", value: "vip")
        request.headers.add(name: "Content-Type", value: "application/json;charset=utf-8")
        request.body = .bytes(ByteBuffer(string: body))
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let text = String(buffer: try await answer.body.collect(upTo: 1 << 16))
        #expect(answer.status == .created, "\(format): \(text)")
    }

    /// Waits for so many messages, compares them, and forgets them. One too many is found by the next comparison.
    private func expect(_ wanted: [String], at place: AndroidPlace) async throws {
        let found = try await eventually("\(wanted) arrive") {
            let messages = place.messages.map { "\($0.phone) \($0.data["text"] ?? "")" }
            return messages.count >= wanted.count ? messages.sorted() : nil
        }
        #expect(found == wanted)
        place.fcm.clearRecorder()
    }
}
