import APNsProtocol
import DeviceSimulation
import HTTPService
import RichPushModel
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a push as APNs and a phone would, and reports its faults with their places (Reference/APNs.md#3-2 and
/// #6-1).
struct HandPushReview {
    /// How deep a phone reads.
    private static let readableDepth = 512
    /// Keys of payloads that are nested deeper are not checked.
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
            let sentence = "It is nested more than \(Self.depthLimit) deep, so its keys are not checked here."
            return size + remarks + [PushFinding(.advice, "payload", sentence)]
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return size + remarks }
        guard let members = value.members else {
            let sentence = "The body is \(value.kindName); it must be an object."
            return size + [PushFinding(.error, "payload", sentence, line: 1, column: 1)]
        }
        return size + remarks + PayloadReview(type: type, members: members, text: push.payload).findings
    }

    /// What the scanner does not like.
    private struct Complaint {
        /// The parser's message, for example "at byte 12: a colon was expected".
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

    /// Any JSON; only its syntax is checked.
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
        let prefix = complaint.isReadable ? "APNs carries it, and phones differ in what they read: " : Self.unreadable
        let severity: PushFinding.Severity = complaint.isReadable ? .advice : .error
        // From "at byte 12: a colon was expected".
        guard let match = complaint.detail.wholeMatch(of: /at byte (\d+): (.*)/), let offset = Int(match.1) else {
            return PushFinding(severity, "payload", prefix + complaint.detail + ".")
        }
        let place = TextPlace(ofByte: offset, in: push.payload)
        return PushFinding(severity, "payload", prefix + match.2 + ".", line: place.line, column: place.column)
    }

    private static let unreadable = "APNs carries it, but no phone can read it: "
}

/// A push as a developer wrote it: headers of APNs and an unchanged body (Reference/APNs.md#3-2).
public struct HandPush: Hashable, Sendable, Codable {
    static let fields: Set<String> = ["pushType", "priority", "topic", "expiration", "collapseId", "apnsId", "payload"]

    public var pushType: String
    /// 10, 5 or 1; absent leaves the header out.
    public var priority: Int?
    /// Absent means the app of the phone.
    public var topic: String?
    /// Seconds since 1970; absent leaves the header out, which is not the same as 0.
    public var expiration: Int64?
    public var collapseId: String?
    /// A UUID; absent lets one be made.
    public var apnsId: String?
    /// The body, JSON as it was typed.
    public var payload: String

    /// Creates a push.
    public init(
        pushType: String = "alert", priority: Int? = nil, topic: String? = nil, expiration: Int64? = nil,
        collapseId: String? = nil, apnsId: String? = nil, payload: String
    ) {
        self.pushType = pushType
        self.priority = priority
        self.topic = topic
        self.expiration = expiration
        self.collapseId = collapseId
        self.apnsId = apnsId
        self.payload = payload
    }
}

/// What became of a push that was sent by hand.
public struct HandPushAnswer: Hashable, Sendable, Codable {
    /// What APNs answered; absent when no answer came.
    public var status: Int?
    /// With a refusal the reason of APNs; without an answer, why none came.
    public var reason: String?
    /// What the push is known by in the story.
    public var apnsId: String
    /// With 410: since when the device token is dead, in milliseconds since 1970.
    public var timestamp: Int64?

    /// Creates an answer.
    public init(status: Int?, reason: String? = nil, apnsId: String, timestamp: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.apnsId = apnsId
        self.timestamp = timestamp
    }
}

/// Where a push to one phone goes: what a developer needs to send it from elsewhere, with curl for instance.
public struct PushTarget: Hashable, Sendable, Codable {
    public var host: String
    public var port: Int
    /// The device token of the app on the phone.
    public var deviceToken: String
    /// The bundle id of the app.
    public var topic: String
    /// A provider token that the local APNs accepts for an hour. It opens nothing at Apple.
    public var authorization: String
    /// The file of the certificate authority that a client has to trust.
    public var authorityPath: String

    /// Creates a target.
    public init(host: String, port: Int, deviceToken: String, topic: String, authorization: String, authorityPath: String) {
        self.host = host
        self.port = port
        self.deviceToken = deviceToken
        self.topic = topic
        self.authorization = authorization
        self.authorityPath = authorityPath
    }
}

/// What is to be said of a push before it is sent: a rule of APNs that it breaks, or something that a phone would pass over.
public struct PushFinding: Hashable, Sendable, Codable {
    /// How bad it is. Nothing keeps a developer from sending: APNs is the judge.
    public enum Severity: String, Hashable, Sendable, Codable {
        /// APNs refuses it, or no client can read it.
        case error
        /// APNs takes it, but it probably does not do what is meant.
        case advice
    }

    public var severity: Severity
    /// The field of `HandPush` that it is about.
    public var field: String
    /// A human-readable sentence.
    public var message: String
    /// Where in the body, from 1; absent for what has no place.
    public var line: Int?
    /// In characters, from 1.
    public var column: Int?

    /// Creates a finding.
    public init(_ severity: Severity, _ field: String, _ message: String, line: Int? = nil, column: Int? = nil) {
        self.severity = severity
        self.field = field
        self.message = message
        self.line = line
        self.column = column
    }
}

/// A place in a text as an editor shows it: line and column in characters, both from 1.
struct TextPlace: Hashable, Sendable {
    var line = 1
    var column = 1

    /// The place of the character that this byte of the text belongs to; behind the last one for a byte beyond the end.
    init(ofByte offset: Int, in text: String) {
        var passed = 0
        for character in text {
            passed += character.utf8.count
            guard passed <= offset else { return }
            if character.isNewline {
                line += 1
                column = 1
            } else {
                column += 1
            }
        }
    }

    /// The place where a member of this name is written first; `nil` when it is written with escapes.
    init?(ofName name: String, in text: String) {
        guard let range = text.firstRange(of: "\"\(name)\"") else { return nil }
        self.init(ofByte: text.utf8.distance(from: text.startIndex, to: range.lowerBound), in: text)
    }
}
