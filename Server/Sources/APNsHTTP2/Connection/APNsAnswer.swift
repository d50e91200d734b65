import APNsProtocol
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the header fields of an answer say (Reference/APNs.md#4).
struct APNsAnswerHead: HPACKFieldSink {
    private(set) var status = 0
    private(set) var apnsID: UUID?
    private(set) var uniqueID: UUID?
    /// The channel that was made (Reference/APNs.md#5-2).
    private(set) var channelID: APNsChannel.ID?
    /// Seconds or a date, as it came (RFC 9110, 10.2.3).
    private(set) var retryAfterText: String?
    /// Of a refusal only; nothing else needs it.
    private(set) var serverDate: Timestamp?
    /// Breaks the form of a response (RFC 9113, 8.2 and 8.3).
    private(set) var isMalformed = false
    private var hasRegularField = false

    private static let longestDate = 64

    var isInterim: Bool { (100..<200).contains(status) }

    /// Seconds.
    var retryAfter: Int? {
        retryAfterText.flatMap { text in
            (1...6).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
        }
    }

    /// The same as a moment, when the server names one.
    var retryAt: Timestamp? { retryAfter == nil ? retryAfterText.flatMap(HTTPDate.moment) : nil }

    mutating func field(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard let first = name.first else { return isMalformed = true }
        guard first != UInt8(ascii: ":") else { return pseudoField(name, value) }
        hasRegularField = true
        if name.contains(where: { (0x41...0x5A).contains($0) || $0 <= 0x20 || $0 >= 0x7F }) { return isMalformed = true }
        switch name.count {
        case 7 where Self.isSame(name, "apns-id"): apnsID = APNsUUID.parse(value)
        // Broadcasts and management name the request, not a notification (Reference/APNs.md#4).
        case 15 where Self.isSame(name, "apns-request-id"): apnsID = APNsUUID.parse(value)
        case 15 where Self.isSame(name, "apns-channel-id"):
            let id = APNsChannel.ID(rawValue: String(decoding: value, as: UTF8.self))
            channelID = id.isWellFormed ? id : nil
        case 14 where Self.isSame(name, "apns-unique-id"): uniqueID = APNsUUID.parse(value)
        case 4 where status >= 400 && Self.isSame(name, "date"):
            serverDate = HTTPDate.moment(String(decoding: value, as: UTF8.self))
        case 11 where Self.isSame(name, "retry-after"):
            retryAfterText = String(decoding: value.prefix(Self.longestDate), as: UTF8.self)
        default: break
        }
    }

    /// Ends a header block: exactly one status must have been there.
    mutating func finish() {
        if status == 0 { isMalformed = true }
    }

    private mutating func pseudoField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard Self.isSame(name, ":status"), status == 0, !hasRegularField, let number = Self.number(value, digits: 3...3),
            number >= 100
        else { return isMalformed = true }
        status = number
    }

    @inline(__always)
    private static func isSame(_ name: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        guard name.count == word.utf8CodeUnitCount else { return false }
        for index in 0..<name.count where name[index] != word.utf8Start[index] { return false }
        return true
    }

    private static func number(_ text: UnsafeRawBufferPointer, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.count) else { return nil }
        var value = 0
        for byte in text {
            guard byte &- 0x30 < 10 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }
}

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
