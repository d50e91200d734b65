import AsyncHTTPClient
import ClarionTesting
import Foundation
import Testing

/// Thousands of damaged requests through the listeners of a real process.
@Suite(.serialized)
struct DamagedRequestTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let count = isLong ? 200_000 : 4_000
    private static let callers = 6

    @Test("no damaged request is answered with a 5xx, left unanswered, or changes what it was refused; memory stays flat")
    func damaged() async throws {
        let seed = SeededGenerator.newSeed()
        print("seed \(seed)")
        try await TemporaryFolder.use { folder in
            let server = try await HubServer.start(in: folder, hubs: ["demo", "busy", "quiet"])
            var configuration = HTTPClient.Configuration(certificateVerification: .none)
            configuration.timeout.connect = .seconds(10)
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            var lives: [DamagedLife] = []
            for number in 0..<Self.callers {
                let caller: any WireCaller =
                    number == 0 ? HTTP2Caller(client: client, port: server.tlsPort) : RawCaller(port: server.port)
                lives.append(DamagedLife(caller, try await Self.things(server, number), seed: seed &+ UInt64(number)))
            }
            try await Self.prove(client, server)
            let before = try await Self.quiet(server)
            lives = await Self.run(lives, Self.count / 3 / Self.callers)
            let warm = server.process.residentBytes
            lives = await Self.run(lives, Self.count * 2 / 3 / Self.callers)
            let end = server.process.residentBytes
            let statuses = lives.reduce(into: [:]) { sums, life in sums.merge(life.statuses, uniquingKeysWith: +) }
            print("statuses \(statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })")
            print("resident memory \(warm >> 20) MiB after a third, \(end >> 20) MiB at the end")
            for fault in lives.flatMap(\.faults) { Issue.record("seed \(seed): \(fault)") }
            #expect(try await Self.quiet(server) == before, "a hub that only refused has changed")
            #expect(end < warm + warm / 4 + 32 << 20)
            #expect((statuses[200] ?? 0) > 0 && (statuses[201] ?? 0) > 0 && (statuses[400] ?? 0) > 0 && (statuses[401] ?? 0) > 0)
            try await client.shutdown()
            #expect(server.process.isRunning)
            #expect(await server.process.terminate() == 0)
            // There is no credential, so nothing is sent, and the log says so.
            let errors = server.process.printed.split(separator: "\n").filter {
                $0.contains(" error ") && !$0.contains("no APNs credential is set")
            }
            #expect(errors.isEmpty, "\(errors.suffix(10))")
        }
    }

    /// The callers side by side, each so many requests on.
    private static func run(_ lives: [DamagedLife], _ count: Int) async -> [DamagedLife] {
        await withTaskGroup(of: (Int, DamagedLife).self) { group in
            for (index, life) in lives.enumerated() {
                group.addTask {
                    var life = life
                    await life.run(count)
                    return (index, life)
                }
            }
            var ended = lives
            for await (index, life) in group { ended[index] = life }
            return ended
        }
    }

    private static func things(_ server: HubServer, _ number: Int) async throws -> RequestSample.Things {
        let jobToken = server.token("busy")
        let caller = RawCaller(port: server.port)
        var links: [String] = []
        for _ in 1...2 {
            let made = try await caller.exchange(WireRequest("POST", "/$containers/busy", [("Authorization", jobToken)]))
            links.append(try #require(made.headers["location"]))
        }
        let link = links[0]
        let path = link.dropFirst("http://".count).drop { $0 != "/" }
        // Unlike enough that no damage makes one caller's request another's.
        let name = String(repeating: "\(number)", count: 12)
        return RequestSample.Things(
            registration: "registration-\(name)", installation: "installation-\(name)",
            container: String(path), link: link, output: links[1], token: server.token("demo"), jobToken: jobToken,
            rootToken: server.token(""))
    }

    /// HTTP/2 is what the second listener speaks with this client.
    private static func prove(_ client: HTTPClient, _ server: HubServer) async throws {
        let response = try await client.execute(
            HTTPClientRequest(url: "https://127.0.0.1:\(server.tlsPort)/livez"), timeout: .seconds(20))
        #expect(response.version == .http2)
    }

    /// All that a hub says of itself, after a round of requests that it has to refuse.
    private static func quiet(_ server: HubServer) async throws -> [String] {
        let caller = RawCaller(port: server.port)
        let good = server.token("quiet")
        let target = "/quiet/registrations/still?api-version=2020-06"
        func call(_ method: String, _ target: String, _ token: String) async throws -> WireAnswer {
            var request = RequestSample.upsert(
                .init(
                    registration: "", installation: "", container: "", link: "", output: "", token: token, jobToken: "",
                    rootToken: ""))
            request.method = method
            request.target = Array(target.utf8)
            if method == "GET" || method == "DELETE" { request.body = [] }
            return try await caller.exchange(request)
        }
        if try await call("GET", target, good).status == 404 { #expect(try await call("PUT", target, good).status == 200) }
        let bad = [
            "", server.token("demo"), server.token("quiet", lifetime: .seconds(-3600)), server.token("quiet", path: "demo"),
            good.replacing("sig=", with: "sig=A"), good.replacing("&se=", with: "&se=9"),
            good.replacing("skn=Default", with: "skn=Other"),
        ]
        for token in bad {
            for method in ["PUT", "DELETE", "GET"] {
                let answer = try await call(method, target, token)
                #expect(answer.status == 401, "\(method) with \(token.replacing(/sig=[^&]*/, with: "sig=…"))")
            }
        }
        var answers: [String] = []
        for path in ["registrations", "jobs", "registrations/still"] {
            let answer = try await call("GET", "/quiet/\(path)?api-version=2020-06", good)
            #expect(answer.status == 200)
            answers.append(answer.text.replacing(/<updated>[^<]*<\/updated>/, with: ""))
        }
        return answers
    }
}
