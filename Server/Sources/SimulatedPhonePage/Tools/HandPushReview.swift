import APNsProtocol
import DeviceSimulation
import HTTPService
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a push as APNs and a phone would, and says what is wrong with it, in words and with the place (APNs reference 3.2, 6.1).
struct HandPushReview {
    /// How deep a payload may be nested before anybody here reads it.
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
        do throws(ServiceError) {
            _ = try JSONScanner.scan(bytes, depthLimit: Self.depthLimit)
        } catch {
            return size + [syntaxFinding(error.detail ?? "this is not JSON")]
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return size }
        guard let members = value.members else {
            let sentence = "The body is \(value.words); it must be an object."
            return size + [PushFinding(.error, "payload", sentence, line: 1, column: 1)]
        }
        return size + PayloadReview(type: type, members: members, text: push.payload).findings
    }

    /// From "at byte 12: a colon was expected" to a place that an editor shows.
    private func syntaxFinding(_ detail: String) -> PushFinding {
        let words = "APNs carries it, but no phone can read it: "
        guard let match = detail.wholeMatch(of: /at byte (\d+): (.*)/), let offset = Int(match.1) else {
            return PushFinding(.error, "payload", words + detail + ".")
        }
        let place = TextPlace(ofByte: offset, in: push.payload)
        return PushFinding(.error, "payload", words + match.2 + ".", line: place.line, column: place.column)
    }
}
