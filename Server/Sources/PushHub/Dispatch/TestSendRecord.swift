import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What is kept of the report of a test send, so that a repeated call is told the same. Handles are left out: they stand with the
/// devices, or in the call.
struct TestSendRecord: Codable, Hashable {
    struct Result: Codable, Hashable {
        var platform: String
        /// Absent for a direct send.
        var record: String?
        var outcome: String
        var ending: String?
        var reason: String?
    }

    var results: [Result]

    init(_ report: TestSendReport) {
        results = report.results.map {
            Result(
                platform: $0.platform.rawValue, record: $0.record?.text, outcome: $0.outcome.rawValue,
                ending: $0.ending?.rawValue, reason: $0.reason)
        }
    }

    init(bytes: [UInt8]) throws { self = try JSONDecoder().decode(TestSendRecord.self, from: Data(bytes)) }

    var bytes: [UInt8] { get throws { Array(try JSONEncoder().encode(self)) } }
}
