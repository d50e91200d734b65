import ClarionTesting
import Foundation
import RichPushModel
import ServerOperations
import ServerSettings
import Testing

/// The order of the system calls of `serve` on a database file: what was acknowledged is on the disk before the answer leaves.
@Suite("The order of system calls")
struct SystemCallOrderTests {
    @Test(
        "a first start keeps the names of its folders; upload, registration, installation and send are on the disk when answered")
    func order() async throws {
        try await TemporaryFolder.use { folder in
            let data = folder + "/data"
            let trace = folder + "/trace"
            let calls = "mkdir,openat,pwrite64,pwritev,fsync,fdatasync,rename,read,recvfrom,recvmsg,write,writev,sendto,sendmsg"
            let server = try await ServerProcess(
                dataDirectory: data, environment: [:],
                prefix: ["strace", "-D", "-f", "-y", "-s", "40", "-e", "trace=\(calls)", "-o", trace])
            let settings = try SettingsLoader(
                arguments: [], environment: ["CLARION_DATA_DIRECTORY": data], path: nil, system: .server
            ).load()
            try await UserAdministration(settings: settings).add(
                try #require(UserName("ann")), password: SecretText("correct horse battery staple"), role: .sender)
            let ann = APIClient(address: server.address, user: "ann", password: "correct horse battery staple")
            let picture = Picture.random(side: 32)
            let upload = try await ann.call("POST", APIRoute.content, body: picture, headers: ["Content-Type": "image/gif"])
            #expect(upload.status == 201, "\(String(decoding: upload.body, as: UTF8.self))")
            let token = String(repeating: "ab", count: 32)
            let registered = try await ann.call("POST", "/api/register?handle=\(token)", body: nil, headers: [:])
            let id = try registered.decoded(String.self)
            let registration = try await ann.call(
                "PUT", "/api/register/\(id)",
                body: Data(#"{"Platform":"apns","Handle":"\#(token)","Tags":[]}"#.utf8),
                headers: ["Content-Type": "application/json"])
            #expect(registration.status == 200, "\(String(decoding: registration.body, as: UTF8.self))")
            let installation = try await ann.call(
                "PUT", APIRoute.installation(try #require(InstallationID("phone"))),
                json: InstallationUpdate(handle: String(repeating: "cd", count: 32), topic: Fleet.topic))
            #expect(installation.status == 200, "\(String(decoding: installation.body, as: UTF8.self))")
            let send = try await ann.call("POST", APIRoute.notifications, json: SendRequest(message: "Hello"))
            #expect(send.status == 201, "\(String(decoding: send.body, as: UTF8.self))")
            #expect(await server.terminate() == 0)

            let all = try SystemCall.read(trace)
            for (made, parent) in [
                (data + "/content", data), (data + "/content/objects", data + "/content"),
                (data + "/content/incoming", data + "/content"), (data + "/containers", data),
            ] {
                let making = try #require(all.first { $0.name == "mkdir" && $0.text.contains("\"\(made)\"") }, "mkdir \(made)")
                #expect(
                    all.contains { $0.isSync(of: parent) && $0.begin > making.end }, "fsync of \(parent) after mkdir of \(made)")
            }
            try checkUpload(all, data)
            for (request, answer) in [
                ("POST \(APIRoute.content)", "201"), ("PUT /api/register/", "200"), ("PUT \(APIRoute.installations)/", "200"),
                ("POST \(APIRoute.notifications)", "201"),
            ] {
                try checkLog(all, data, request, answer)
            }
        }
    }

    /// The log of the database is synchronised after the request's last write, before the answer leaves.
    private func checkLog(_ all: [SystemCall], _ data: String, _ request: String, _ status: String) throws {
        let (asked, answered) = try exchange(all, request, status)
        let log = data + "/clarion.sqlite-wal"
        let during = all.filter { $0.begin > asked && $0.end < answered }
        let writes = during.filter { $0.name.hasPrefix("pwrite") && $0.text.contains("<\(log)>") }
        // The dispatcher begins a send once it is committed, so the last write before that answer may be the dispatcher's.
        let isSend = request == "POST \(APIRoute.notifications)"
        let written = try #require(
            isSend ? writes.first : writes.last, "\(request) writes the log of the database before its answer")
        let syncs = during.filter { $0.isSync(of: log) && $0.begin > written.begin }
        // Two transactions accept a send: the backend keeps the notification, then the hub keeps the push.
        #expect(syncs.count >= (isSend ? 2 : 1), "\(request): the log is on the disk before the answer")
    }

    /// Where a request was read and where its answer begins to leave.
    private func exchange(_ all: [SystemCall], _ request: String, _ status: String) throws -> (asked: Int, answered: Int) {
        let reads: Set = ["read", "recvfrom", "recvmsg"]
        let asked = try #require(all.first { reads.contains($0.name) && $0.text.contains("\"\(request)") }, "\(request) is read")
        let writes: Set = ["write", "writev", "sendto", "sendmsg"]
        let answer = try #require(
            all.first { writes.contains($0.name) && $0.text.contains("HTTP/1.1 \(status)") && $0.begin > asked.end },
            "\(request) is answered")
        return (asked.end, answer.begin)
    }

    /// The file, its place, the name there; then the row, which the caller looks at.
    private func checkUpload(_ all: [SystemCall], _ data: String) throws {
        let (asked, answered) = try exchange(all, "POST \(APIRoute.content)", "201")
        let during = all.filter { $0.begin > asked && $0.end < answered }
        let content = data + "/content"
        let file = try #require(
            during.first { $0.name == "fsync" && $0.text.contains("<\(content)/incoming/") }, "fsync of the file")
        let shelf = try #require(
            during.first { $0.name == "mkdir" && $0.text.contains("\(content)/objects/") }, "mkdir of the shelf")
        let shelfName = try #require(
            during.first { $0.isSync(of: content + "/objects") && $0.begin > shelf.end }, "fsync of objects")
        let place = try #require(during.first { $0.name == "rename" && $0.begin > shelfName.end }, "rename")
        let name = try #require(
            during.first { $0.name == "fsync" && $0.text.contains("<\(content)/objects/") && $0.begin > place.end },
            "fsync of the shelf")
        let row = try #require(
            during.first { $0.isSync(of: data + "/clarion.sqlite-wal") && $0.begin > name.end }, "sync of the database's log")
        #expect(file.end < place.begin)
        #expect(row.end < answered)
    }
}

/// One call in the output of `strace -f -y`.
private struct SystemCall {
    let name: String
    /// The line at which it began, with its arguments; paths of open files are in angle brackets.
    let text: String
    /// The numbers of the lines at which it began and ended.
    let begin: Int
    let end: Int

    func isSync(of path: String) -> Bool { (name == "fsync" || name == "fdatasync") && text.contains("<\(path)>") }

    /// The calls in the order in which they began. Those that never ended are left out.
    static func read(_ file: String) throws -> [SystemCall] {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        var begun: [Substring: (text: Substring, line: Int)] = [:]
        var calls: [SystemCall] = []
        for (number, line) in lines.enumerated() {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard parts.count == 2 else { continue }
            let (thread, text) = (parts[0], parts[1].drop { $0 == " " })
            if text.hasSuffix("<unfinished ...>") {
                begun[thread] = (text, number)
            } else if text.hasPrefix("<... ") {
                guard let start = begun.removeValue(forKey: thread) else { continue }
                // A read's result is in the line of its end.
                calls.append(SystemCall(String(start.text) + String(text), from: start.line, to: number))
            } else {
                calls.append(SystemCall(String(text), from: number, to: number))
            }
        }
        return calls.sorted { $0.begin < $1.begin }
    }

    private init(_ text: String, from begin: Int, to end: Int) {
        name = String(text.prefix { $0 != "(" })
        self.text = text
        self.begin = begin
        self.end = end
    }
}
