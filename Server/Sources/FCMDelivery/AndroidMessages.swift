import FCMProtocol
import PushHub
import RichPushModel
import WireText

/// What the Android devices of a batch get, made once for each body and header set.
struct AndroidMessages {
    /// What was made of a body.
    enum Made {
        case message(FCMMessage)
        /// What becomes of its targets, because it is no message.
        case refused(PushOutcome)
    }

    /// By the places of body and header set.
    private var made: [SIMD2<Int>: Made] = [:]

    /// Makes the messages. `now` is when the batch began: the life of a message counts from then.
    init(_ batch: PushBatch, at now: Timestamp) {
        for run in batch.targets.runs where batch.bodies.indices.contains(run.body) && batch.headers.indices.contains(run.headers)
        {
            let key = SIMD2(run.body, run.headers)
            guard made[key] == nil else { continue }
            made[key] = Self.made(batch.bodies[run.body], batch.headers[run.headers], of: batch, at: now)
        }
    }

    subscript(run: PushTargets.Run) -> Made {
        made[SIMD2(run.body, run.headers)]
            ?? .refused(.rejected(reason: "the batch has no such body or header set"))
    }

    /// What came for Android goes out as it came; a body of the retired interface is translated.
    private static func made(
        _ body: [UInt8], _ headers: PushBatch.Headers, of batch: PushBatch, at now: Timestamp
    ) -> Made {
        do throws(FCMMessageFault) {
            guard batch.bodyPlatform == nil else {
                guard let data = AndroidData(push: body) else {
                    return .refused(.rejected(reason: "the body is no push for Apple's devices"))
                }
                return .message(try FCMMessage(Array(data.message(headers, at: now).utf8)))
            }
            return .message(batch.platform == .gcm ? try FCMMessage(legacy: body) : try FCMMessage(body))
        } catch {
            return .refused(error.isTooLarge ? .tooLarge : .rejected(reason: "\(error)"))
        }
    }
}

/// What an Android app gets of a push that was made for Apple's devices: the map `data` of a message without `notification`, since the app draws
/// the notification itself, as the service extension does on iOS (Reference/FCM.md#6-2). This is the contract with apps.
///
/// Every value is a text, and a key without a value is absent. Nothing stands here that did not stand in the push for Apple's devices.
///
/// | Key | In the push for Apple's devices | Value |
/// | --- | --- | --- |
/// | `richId` | `richId` | the rich id: which notification to fetch, in decimal digits. Absent from a plain text |
/// | `richType` | `richType` | the kind of the content: `img`, `video`, … |
/// | `richFor` | `richFor` | the mark of the one user it is for, 16 hexadecimal digits (`SubjectMark`) |
/// | `richMessage` | `richMessage` | the sender's text, when the preview is open |
/// | `title`, `subtitle`, `body` | `aps.alert` | what to show until the content is there. Without any of them the push only wakes the app |
/// | `sound` | `aps.sound` | the name of a sound, `default` for the usual one; absent for a silent notification |
/// | `badge` | `aps.badge` | the number on the app's icon |
/// | `thread` | `aps.thread-id` | notifications with the same one belong together |
///
/// A push with `richId` replaces what is shown with the same id. Later versions may add keys; an app ignores those that it does not know. The
/// push's headers become `android.priority` (`HIGH` for 10, else `NORMAL`), `android.ttl` (the time until the expiry, `0s` for one try; absent
/// without an expiry) and `android.collapse_key` (the collapse id, if the sender gave one).
struct AndroidData {
    private let members: [(name: String, value: String?)]

    /// Reads a push for Apple's devices; `nil` for what is no JSON object.
    init?(push body: [UInt8]) {
        guard let push = JSONValue(json: body)?.members else { return nil }
        let aps = push["aps"]?.members ?? [:]
        let alert = aps["alert"]?.members ?? [:]
        let values: [(String, JSONValue?)] = [
            ("richId", push["richId"]), ("richType", push["richType"]), ("richFor", push["richFor"]),
            ("richMessage", push["richMessage"]), ("title", alert["title"]), ("subtitle", alert["subtitle"]),
            // An alert may be its text alone, and a sound an object.
            ("body", alert["body"] ?? aps["alert"]), ("sound", aps["sound"]?.members?["name"] ?? aps["sound"]),
            ("badge", aps["badge"]), ("thread", aps["thread-id"]),
        ]
        // A number stands for its digits.
        members = values.map { ($0, ($1?.text ?? $1?.wholeNumber.map { String($0) }).map(JSONText.string)) }
    }

    /// The message for FCM.
    func message(_ headers: PushBatch.Headers, at now: Timestamp) -> String {
        let life = headers.expiration.map { $0 == 0 ? 0 : min(max($0 - now.seconds, 0), FCMMessage.longestLife) }
        let android = JSONText.object([
            ("priority", JSONText.string(headers.priority >= 10 ? "HIGH" : "NORMAL")), ("ttl", life.map { "\"\($0)s\"" }),
            ("collapse_key", headers.collapseID.flatMap { Self.isOfHub($0) ? nil : JSONText.string($0) }),
        ])
        return JSONText.object([("message", JSONText.object([("data", JSONText.object(members)), ("android", android)]))])
    }

    /// Whether a collapse id is the notification id, which the hub takes where the sender gave none. FCM keeps four keys at most for a phone that
    /// is away, and slows down what can be collapsed (Reference/FCM.md#4).
    private static func isOfHub(_ collapseID: String) -> Bool {
        collapseID.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
            && collapseID.utf8.allSatisfy { $0.isASCIIHexadecimalDigit || $0 == UInt8(ascii: "-") }
    }
}
