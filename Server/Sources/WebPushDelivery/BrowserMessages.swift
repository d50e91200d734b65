import PushHub
import RichPushModel
import WebPushProtocol
import WireText

/// What the browsers of a batch get, made once for each body and page.
struct BrowserMessages {
    private struct Key: Hashable {
        var body: Int
        var headers: Int
    }

    private var messages: [Key: [UInt8]] = [:]

    init(_ batch: PushBatch) {
        for run in batch.targets.runs where batch.bodies.indices.contains(run.body) && batch.headers.indices.contains(run.headers)
        {
            let key = Key(body: run.body, headers: run.headers)
            guard messages[key] == nil else { continue }
            let body = batch.bodies[run.body]
            messages[key] =
                batch.bodyPlatform == nil ? body : ApplePush(body)?.browserMessage(opening: batch.headers[run.headers].topic)
        }
    }

    /// `nil` where the batch has no such body, or one of which nothing can be made.
    subscript(run: PushTargets.Run) -> [UInt8]? { messages[Key(body: run.body, headers: run.headers)] }
}

/// A push for Apple's devices, as far as a browser can show it.
struct ApplePush {
    private let members: [String: JSONValue]
    private let aps: [String: JSONValue]

    /// Reads a body; `nil` for what is no JSON object.
    init?(_ body: [UInt8]) {
        guard let members = JSONValue(json: body)?.members else { return nil }
        self.members = members
        aps = members["aps"]?.members ?? [:]
    }

    /// One text for browsers with and without Declarative Web Push (Reference/WebPush.md#5-3). Texts that do not fit are left out: the
    /// service worker fetches them.
    ///
    /// - Parameter page: what a tap opens. Without one a browser leaves all to the service worker.
    func browserMessage(opening page: String?) -> [UInt8] {
        for (title, body) in [(title, text), (title, nil), (nil, nil)] as [(String?, String?)] {
            let message = Array(message(title, body, page).utf8)
            if message.count <= WebPushEncryption.largestMessage { return message }
        }
        return Array(message(nil, nil, nil).utf8)
    }

    private func message(_ title: String?, _ body: String?, _ page: String?) -> String {
        let id = members["richId"]?.text
        let notification = JSONText.object([
            // Browsers show none without a title (Reference/WebPush.md#5-2).
            ("title", JSONText.string(title ?? "New notification")), ("body", body.map(JSONText.string)),
            ("navigate", page.map { JSONText.string($0 + (id.map { "#clarion=\($0)" } ?? "")) }),
            ("tag", id.map { JSONText.string("clarion-\($0)") }), ("silent", isQuiet ? "true" : nil),
            (
                "data",
                JSONText.object(Self.passedOn.map { name in (name, members[name]?.text.map(JSONText.string)) })
            ),
        ])
        return JSONText.object([
            ("web_push", page.map { _ in "8030" }), ("notification", notification), ("mutable", "true"),
            ("app_badge", aps["badge"]?.wholeNumber.flatMap { $0 >= 0 ? String($0) : nil }),
        ])
    }

    /// What the service worker needs to fetch the content for the right user.
    private static let passedOn = ["richId", "richType", "richFor", "richMessage"]

    private var alert: [String: JSONValue] { aps["alert"]?.members ?? [:] }

    /// An alert without a title has its text there.
    private var title: String? {
        alert["title"]?.text ?? alert["body"]?.text ?? aps["alert"]?.text ?? members["richMessage"]?.text
    }

    private var text: String? {
        let lines = alert["title"]?.text == nil ? [nil] : [alert["subtitle"]?.text, alert["body"]?.text]
        let text = lines.compactMap(\.self).joined(separator: "\n")
        return text.isEmpty ? nil : text
    }

    /// An alert that makes no sound on a phone makes none here. What the app shows by itself may.
    private var isQuiet: Bool { aps["alert"] != nil && aps["sound"] == nil }
}
