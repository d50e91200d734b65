import AsyncHTTPClient
import Foundation
import HubProtocol
import NIOCore
import NIOHTTP1
import RichPushModel
import Testing

/// An import and an export of a whole hub at a server of its own; a million registrations in the long form.
@Suite(.serialized)
struct MillionImportTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let count = isLong ? 1_000_000 : 100_000
    private static let linesPerFile = 20_000
    /// What the server may take in all, however many registrations there are. 105 MiB were seen with a million, 74 with 20,000.
    private static let memoryLimit = 200 << 20

    @Test("a million registrations go in and come out equal, in bounded memory", .timeLimit(.minutes(60)))
    func roundTrip() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await HubServer.start(in: folder, hubs: ["demo"])
            let client = HTTPClient(eventLoopGroupProvider: .singleton)
            do { try await run(Caller(client: client, server: server)) } catch {
                try await client.shutdown()
                throw error
            }
            try await client.shutdown()
            #expect(await server.process.terminate() == 0)
        }
    }

    private func run(_ caller: Caller) async throws {
        var sum = LineSum()
        let container = try await caller.makeContainer()
        for file in 0..<(Self.count / Self.linesPerFile) {
            var text: [UInt8] = []
            for number in (file * Self.linesPerFile)..<((file + 1) * Self.linesPerFile) { text += Self.line(number).utf8 }
            sum.add(text[...])
            try await caller.put(text, to: container, "in/\(file).txt")
        }
        #expect(sum.count == Self.count)
        let importing = HubJobDocument(
            .importCreateRegistrations, outputContainer: container, importFile: container + "&prefix=in/")
        let (imported, importMemory) = try await caller.finish(importing)
        #expect(imported.status == .completed)
        #expect(imported.failure == nil)
        #expect(try await caller.sum(of: imported, "FailedFilePath") == LineSum())
        #expect(try await caller.sum(of: imported, "OutputFilePath") == sum)
        let exporting = HubJobDocument(.exportRegistrations, outputContainer: try await caller.makeContainer(), importFile: nil)
        let (exported, exportMemory) = try await caller.finish(exporting)
        #expect(exported.status == .completed)
        #expect(try await caller.sum(of: exported, "OutputFilePath") == sum)
        print("\(Self.count) registrations: at most \(importMemory >> 20) MiB while importing, \(exportMemory >> 20) exporting")
        #expect(max(importMemory, exportMemory) < Self.memoryLimit)
    }

    /// A registration as a line, to the byte as an export writes it.
    private static func line(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        var description = RegistrationDescription(
            .apple, handle: String(repeating: "0", count: 64 - digits.count) + digits, registrationID: "\(number)-5-1", etag: "1",
            tags: ["all", "part:\(number % 100)"])
        if number.isMultiple(of: 5) {
            description.template = RegistrationTemplate(
                body: #"{"aps":{"alert":"$(text)"}}"#, name: "short", headers: [HeaderField("apns-priority", "5")],
                expiry: "$(until)")
        }
        if number.isMultiple(of: 11) {
            description = RegistrationDescription(
                .fcm, handle: "token-\(number)", registrationID: "\(number)-5-1", etag: "1", tags: ["all"])
        }
        return RegistrationLines.line(description)
    }
}

/// What lines there are, in whatever order: their number, and the sum of their digests.
private struct LineSum: Equatable {
    var count = 0
    var digests = 0
    private var rest: [UInt8] = []

    /// Takes the next bytes; each line ends with a line feed.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var bytes = bytes
        while let end = bytes.firstIndex(of: 10) {
            var hasher = Hasher()
            hasher.combine(rest + bytes[..<end])
            digests &+= hasher.finalize()
            count += 1
            rest = []
            bytes = bytes[(end + 1)...]
        }
        rest += bytes
    }
}

/// Calls of the hub protocol that send and take large bodies.
private struct Caller {
    let client: HTTPClient
    let server: HubServer

    private func call(
        _ method: HTTPMethod, _ url: String, _ body: [UInt8] = [], signed: Bool = true
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url.hasPrefix("http") ? url : "http://127.0.0.1:\(server.port)\(url)")
        request.method = method
        if signed { request.headers.add(name: "Authorization", value: server.token("demo")) }
        if method == .PUT { request.headers.add(name: "x-ms-blob-type", value: "BlockBlob") }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        return try await client.execute(request, timeout: .seconds(600))
    }

    func makeContainer() async throws -> String {
        try #require(try await call(.POST, "/$containers/demo").headers.first(name: "Location"))
    }

    func put(_ body: [UInt8], to container: String, _ name: String) async throws {
        #expect(try await call(.PUT, file(name, in: container), body, signed: false).status == .created)
    }

    private func file(_ name: String, in container: String) -> String {
        let parts = container.split(separator: "?", maxSplits: 1)
        return "\(parts[0])/\(name)?\(parts.last ?? "")"
    }

    /// Submits a job and waits for its end; what it says then, and the most memory that the server was seen with.
    func finish(_ document: HubJobDocument) async throws -> (job: HubJobDocument, memory: Int) {
        let accepted = try await call(.POST, "/demo/jobs?api-version=2020-06", Array(document.request().utf8))
        var job = try await read(accepted)
        var memory = 0
        while job.status != .completed, job.status != .failed {
            try await Task.sleep(for: .milliseconds(100))
            memory = max(memory, server.process.residentBytes)
            job = try await read(try await call(.GET, "/demo/jobs/\(job.id ?? "")?api-version=2020-06"))
        }
        return (job, memory)
    }

    private func read(_ response: HTTPClientResponse) async throws -> HubJobDocument {
        try HubJobDocument.read(entry: Array(try await response.body.collect(upTo: 1 << 20).readableBytesView))
    }

    /// The lines of a file of a job.
    func sum(of job: HubJobDocument, _ property: String) async throws -> LineSum {
        let name = try #require(job.outputProperties.first { $0.name == property }?.value)
        let response = try await call(.GET, file(name, in: job.outputContainer), signed: false)
        #expect(response.status == .ok)
        var sum = LineSum()
        for try await buffer in response.body { sum.add(Array(buffer.readableBytesView)[...]) }
        return sum
    }
}
