import ClarionTesting
import Foundation
import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import SimulatedPhonePage

/// The routes of the page, called without a socket.
struct PageHarness: Sendable {
    let clock = ManualClock()
    private let app: Application<ServiceResponder>

    init(_ phones: [any PagePhone], tools: (any PhoneTools)? = nil) {
        // The requests' deadlines are kept by another clock, so that on this one only the page sleeps.
        let router = ServiceRouter(options: ServiceOptions())
        PhonePageRoutes(phones: phones, tools: tools, clock: clock).addRoutes(to: router)
        app = Application(router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func call(
        _ method: HTTPRequest.Method, _ uri: String, headers: HTTPFields = [:], body: String? = nil
    ) async throws -> TestResponse {
        try await app.test(.router) { client in
            try await client.executeRequest(uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }
    }

    /// A call as the page itself makes it.
    func act(_ body: String, on phone: String = "p1", headers: HTTPFields = [:]) async throws -> TestResponse {
        var all: HTTPFields = [.contentType: "application/json"]
        for field in headers { all[field.name] = field.value }
        return try await call(.post, "/phone/\(phone)/actions", headers: all, body: body)
    }
}

extension TestResponse {
    var text: String { String(buffer: body) }

    /// The events of an event stream: name, id and data of each.
    var events: [(name: String, id: String?, data: String)] {
        text.components(separatedBy: "\n\n").compactMap { block in
            var fields: [String: String] = [:]
            for line in block.split(separator: "\n") where !line.hasPrefix(":") {
                guard let colon = line.firstRange(of: ": ") else { continue }
                fields[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
            }
            return fields["event"].map { ($0, fields["id"], fields["data"] ?? "") }
        }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
