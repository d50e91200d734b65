import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads what APNs says in JSON: the body of a refusal and the debug data of a GOAWAY.
enum APNsAnswerJSON {
    /// More of a body is not kept; APNs' own have 30 to 80 bytes.
    static let maximumBody = 4096

    private struct Body: Decodable {
        var reason: String?
        var timestamp: Int64?

        enum CodingKeys: String, CodingKey { case reason, timestamp }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            reason = try? container.decodeIfPresent(String.self, forKey: .reason)
            timestamp = try? container.decodeIfPresent(Int64.self, forKey: .timestamp)
        }
    }

    /// The outcome of a complete answer.
    static func outcome(head: APNsAnswerHead, body: [UInt8]) -> APNsOutcome {
        if (200..<300).contains(head.status) { return .accepted(apnsID: head.apnsID, uniqueID: head.uniqueID) }
        let content = body.isEmpty ? nil : try? JSONDecoder().decode(Body.self, from: Data(body))
        return .rejected(
            APNsRejection(
                status: head.status, reason: APNsReason(rawValue: word(content?.reason ?? "")), timestamp: content?.timestamp,
                retryAfter: head.retryAfter, retryAt: head.retryAt, apnsID: head.apnsID, serverDate: head.serverDate))
    }

    /// The reason in a GOAWAY: JSON as documented, or plain text as seen (Reference/APNs.md#1-4 and #1-7); `nil` when there is
    /// none.
    static func reason(debugData: [UInt8]) -> APNsReason? {
        guard !debugData.isEmpty else { return nil }
        let content = try? JSONDecoder().decode(Body.self, from: Data(debugData))
        let reason = APNsReason(rawValue: word(content?.reason ?? String(decoding: debugData, as: UTF8.self)))
        return reason.rawValue.isEmpty ? nil : reason
    }

    /// Printable ASCII only, and not more than a reason needs: the word goes to logs and metrics.
    private static func word(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7E).contains($0) }.prefix(64), as: UTF8.self)
    }
}
