import Foundation
import RichPushModel
import Testing

@testable import HubProtocol
import WireText

/// Requests that real clients sent, from the recordings of `HubHTTPAPITests`.
@Suite("Recorded requests")
struct RecordedRequestTests {
    private struct Recording: Decodable {
        struct Answer: Decodable {
            var status: Int
            var headers: [String: String]
        }

        var method: String
        var target: String
        var headers: [[String]]
        var body: String
        var answer: Answer

        var path: String { String(target.prefix { $0 != "?" }) }
        var query: HubQuery {
            HubQuery(target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init))
        }
        var headerList: HeaderList { HeaderList(headers.map { HeaderField($0[0], $0[1]) }) }
    }

    private static let names = ["azure-go", "azure-php", "azure-python", "azure-ruby"]

    private func recordings(_ name: String) throws -> [Recording] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "HubHTTPAPITests/Recordings/\(name).jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONDecoder().decode(Recording.self, from: Data($0.utf8)) }
    }

    @Test("every recorded request has a route, whose status is the one the client accepted", arguments: names)
    func routes(_ name: String) throws {
        let all = try recordings(name)
        #expect(!all.isEmpty)
        for recording in all {
            guard case .route(let route) = HubRoute.match(method: recording.method, path: recording.path) else {
                Issue.record("no route for \(recording.method) \(recording.target)")
                continue
            }
            #expect(route.operation.successStatus == recording.answer.status)
            #expect("/" + route.hubSpelling == recording.path.prefix(route.hubSpelling.count + 1))
        }
    }

    @Test("the Location that a client accepted is the one that is built", arguments: names)
    func locations(_ name: String) throws {
        for recording in try recordings(name) {
            guard let accepted = recording.answer.headers["location"], accepted.hasPrefix("https:"),
                case .route(let route) = HubRoute.match(method: recording.method, path: recording.path)
            else { continue }
            let id = try #require(LocationHeader.id(in: accepted))
            let header = LocationHeader(
                authority: recording.headerList["host"], fallback: "f", route: route, apiVersion: recording.query.apiVersion)
            #expect(header.member(id) == accepted)
        }
    }

    @Test("the headers of every recorded send are read", arguments: names)
    func sends(_ name: String) throws {
        for recording in try recordings(name) where recording.method == "POST" && !recording.path.contains("registration") {
            let headers = try SendHeaders(recording.headerList, body: recording.body.utf8, now: Timestamp(milliseconds: 0))
            #expect(headers.format == (recording.headerList["ServiceBusNotification-Format"] == "template" ? .template : .apple))
            #expect(headers.tags == recording.headerList["ServiceBusNotification-Tags"])
            if recording.path.contains("scheduled") {
                let day = try #require(WireTime("2026-11-21T00:00:00Z")?.moment)
                let time = try #require(headers.scheduleTime)
                #expect(time > day)
                #expect(time - day < .seconds(86_400))
            }
            #expect(
                recording.query.isDirect == (headers.deviceHandle != nil || recording.path.contains("$batch"))
                    || name == "azure-ruby")
        }
    }

    @Test("the expiry that one client sends without meaning is none, its true one is kept")
    func goExpiry() throws {
        for recording in try recordings("azure-go") where recording.path.contains("/messages") && recording.method == "POST" {
            let headers = try SendHeaders(recording.headerList, body: recording.body.utf8, now: Timestamp(milliseconds: 0))
            #expect((headers.apple.expiry == nil) == recording.query.isDirect)
        }
    }

    @Test("the batch without a closing delimiter is read")
    func batch() throws {
        let batches = try recordings("azure-go").filter { $0.path.contains("$batch") }
        #expect(batches.count == 2)
        for recording in batches {
            let body = try BatchSendBody(contentType: recording.headerList["Content-Type"], body: recording.body.utf8)
            #expect(String(decoding: body.notification, as: UTF8.self) == #"{"aps":{"alert":"tagged from Go"}}"#)
            #expect(!body.handles.isEmpty)
        }
    }

    @Test("recorded installations and patches apply", arguments: ["azure-go", "azure-ruby"])
    func installations(_ name: String) throws {
        var installation: InstallationDocument?
        var patched = 0
        for recording in try recordings(name) where recording.path.contains("/installations/") {
            let id = recording.path.split(separator: "/").last.map(String.init)
            if recording.method == "PUT" { installation = try InstallationDocument(parsing: recording.body.utf8, pathID: id) }
            if recording.method == "PATCH", let current = installation {
                installation = try InstallationPatch(parsing: recording.body.utf8).applied(to: current)
                #expect(installation?.tags.contains("blue") == true)
                patched += 1
            }
        }
        #expect(patched > 0)
    }

    @Test("recorded lists by handle and conditions are read")
    func listsAndConditions() throws {
        let all = try Self.names.flatMap { try recordings($0) }
        let filtered = try all.compactMap { try $0.path.contains("registrations") ? ListQuery($0.query).filter : nil }
        #expect(!filtered.isEmpty)
        #expect(filtered.allSatisfy { $0.handle.property == .deviceToken })
        let conditions = all.compactMap { IfMatch(header: $0.headerList["If-Match"]) }
        #expect(!conditions.isEmpty)
        #expect(conditions.allSatisfy { $0 == .any || $0.version != nil })
    }
}
