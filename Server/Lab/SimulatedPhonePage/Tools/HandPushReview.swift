import APNsProtocol
import DeviceSimulation
import HTTPService
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a push as APNs and a phone would, and says what is wrong with it, in words and with the place (Reference/APNs.md#3-2 and
/// #6-1).
struct HandPushReview {
    /// How deep a phone reads.
    private static let readableDepth = 512
    /// How deep a payload may be nested before anybody here looks at its keys.
    private static let depthLimit = 64

    let push: HandPush
    /// The app of the phone, for a push that names no topic.
    let bundleID: String

    private var type: APNsPushType { APNsPushType(rawValue: push.pushType) }

    /// Everything that there is to say, the headers first.
    var findings: [PushFinding] { headerFindings + bodyFindings }

    // The headers

    private var headerFindings: [PushFinding] {
        [typeFinding, priorityFinding, topicFinding, expirationFinding, collapseFinding, idFinding].compactMap(\.self)
    }

    private var typeFinding: PushFinding? {
        guard !APNsPushType.documented.contains(type) else { return nil }
        let known = APNsPushType.documented.map(\.rawValue).joined(separator: ", ")
        return PushFinding(.error, "pushType", "APNs knows no such push type. It knows \(known).")
    }

    private var priorityFinding: PushFinding? {
        switch push.priority {
        case nil where type == .background:
            PushFinding(.advice, "priority", "Without the header the priority is 10. A background push should say 5.")
        case 10 where type == .background:
            PushFinding(.error, "priority", "A background push must have priority 5, not 10.")
        case nil, 10, 5, 1: nil
        default: PushFinding(.error, "priority", "The priority is 10, 5 or 1.")
        }
    }

    private var topicFinding: PushFinding? {
        let topic = push.topic ?? bundleID + (type.topicSuffix ?? "")
        guard !topic.isEmpty else { return PushFinding(.error, "topic", "The topic is empty; it is the app's bundle id.") }
        if let suffix = type.topicSuffix, !suffix.isEmpty, !topic.hasSuffix(suffix) {
            return PushFinding(.error, "topic", "A push of type \(type.rawValue) needs a topic that ends in \(suffix).")
        }
        guard topic != bundleID, type.topicSuffix?.isEmpty == true else { return nil }
        return PushFinding(.error, "topic", "The app on this phone is \(bundleID), and its device token is for that alone.")
    }

    private var expirationFinding: PushFinding? {
        guard let expiration = push.expiration, expiration < 0 else { return nil }
        return PushFinding(.error, "expiration", "The expiration is seconds since 1970, or 0 for a push that is never stored.")
    }

    private var collapseFinding: PushFinding? {
        guard let id = push.collapseId else { return nil }
        if id.isEmpty { return PushFinding(.error, "collapseId", "The collapse id is empty; leave the header out instead.") }
        guard id.utf8.count > 64 else { return nil }
        return PushFinding(.error, "collapseId", "A collapse id has at most 64 bytes, and this one has \(id.utf8.count).")
    }

    private var idFinding: PushFinding? {
        guard let id = push.apnsId, UUID(uuidString: id) == nil else { return nil }
        return PushFinding(.error, "apnsId", "The apns-id is a UUID: 8-4-4-4-12 hexadecimal digits.")
    }

    // The body

    private var bodyFindings: [PushFinding] {
        let bytes = Array(push.payload.utf8)
        guard !bytes.isEmpty else { return [PushFinding(.error, "payload", "The body is empty, which APNs refuses.")] }
        let limit = type.maximumPayload
        let size =
            bytes.count > limit
            ? [PushFinding(.error, "payload", "The body has \(bytes.count) bytes; APNs takes \(limit) for this type.")] : []
        let complaint = complaint(about: bytes)
        if let complaint, !complaint.isReadable { return size + [finding(complaint)] }
        let remarks = complaint.map { [finding($0)] } ?? []
        guard Self.depth(of: bytes) <= Self.depthLimit else {
            let sentence = "It is nested more than \(Self.depthLimit) deep, so its keys are not looked at here."
            return size + remarks + [PushFinding(.advice, "payload", sentence)]
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return size + remarks }
        guard let members = value.members else {
            let sentence = "The body is \(value.words); it must be an object."
            return size + [PushFinding(.error, "payload", sentence, line: 1, column: 1)]
        }
        return size + remarks + PayloadReview(type: type, members: members, text: push.payload).findings
    }

    /// What the scanner does not like.
    private struct Complaint {
        /// In its words, for example "at byte 12: a colon was expected".
        var detail: String
        /// Whether a phone reads the body all the same.
        var isReadable: Bool
    }

    /// The scanner is stricter than a phone, which reads numbers of any size, and one of two members of the same name.
    private func complaint(about bytes: [UInt8]) -> Complaint? {
        do throws(ServiceError) {
            _ = try JSONScanner.scan(bytes, depthLimit: Self.readableDepth)
            return nil
        } catch {
            let detail = error.detail ?? "this is not JSON"
            let isDoubt = error.code == .invalidField || detail.hasSuffix(JSONScanner.sameNameTwice)
            guard isDoubt else { return Complaint(detail: detail, isReadable: false) }
            let isReadable = (try? JSONDecoder().decode(AnyJSON.self, from: Data(bytes))) != nil
            return Complaint(detail: isReadable ? detail : detail + ", and something after it is no JSON", isReadable: isReadable)
        }
    }

    /// Any JSON, of which nothing but the syntax is looked at.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// How deep lists and objects are nested; what stands in strings is passed over.
    private static func depth(of bytes: [UInt8]) -> Int {
        var (depth, deepest, isText, isEscaped) = (0, 0, false, false)
        for byte in bytes {
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
                deepest = max(deepest, depth)
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
            }
        }
        return deepest
    }

    /// With a place that an editor shows, where there is one.
    private func finding(_ complaint: Complaint) -> PushFinding {
        let words = complaint.isReadable ? "APNs carries it, and phones differ in what they read: " : Self.unreadable
        let severity: PushFinding.Severity = complaint.isReadable ? .advice : .error
        // From "at byte 12: a colon was expected".
        guard let match = complaint.detail.wholeMatch(of: /at byte (\d+): (.*)/), let offset = Int(match.1) else {
            return PushFinding(severity, "payload", words + complaint.detail + ".")
        }
        let place = TextPlace(ofByte: offset, in: push.payload)
        return PushFinding(severity, "payload", words + match.2 + ".", line: place.line, column: place.column)
    }

    private static let unreadable = "APNs carries it, but no phone can read it: "
}
