import CommandLineSupport
import DeviceSimulation
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a phone in a terminal says: for people, or as one JSON object a line.
struct PhonePrinter: Sendable {
    /// A line of JSON has one of the fields.
    private struct Line: Encodable {
        var story: StoryStep?
        var snapshot: PhoneSnapshot?
        var command: String?
        var error: String?
    }

    let json: Bool

    func print(_ step: StoryStep) {
        guard !json else { return print(Line(story: step)) }
        let facts = step.detail.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let number = step.richID.map { "\($0)" } ?? "-"
        Terminal.sayUnbuffered("\(Self.clock(step.at))  \(number)  \(step.title)\(facts.isEmpty ? "" : " (\(facts))")")
    }

    /// What is new on the display; the first time too, except for what was there at the `beginning`.
    func print(_ snapshot: PhoneSnapshot, before: PhoneSnapshot?, beginning: PhoneSnapshot) {
        guard !json else { return print(Line(snapshot: snapshot)) }
        for notice in snapshot.notifications where before?.notifications.contains(notice) != true {
            let picture = notice.hasAttachment ? " [\(notice.mediaType ?? "attachment")]" : ""
            let number = notice.richID.map { "\($0)" } ?? ""
            let isOld = before == nil && beginning.notifications.contains { $0.id == notice.id && $0.at == notice.at }
            let word = isOld ? "STILL THERE" : "NOTIFICATION"
            Terminal.sayUnbuffered("    \(word) \(number) \(notice.title): \(notice.body)\(picture)")
        }
        if let alert = snapshot.alert, alert != before?.alert {
            Terminal.sayUnbuffered("    THE APP ASKS \(alert.richID) \(alert.title ?? ""): \(alert.message ?? "")  ok | more")
        }
        if let words = snapshot.undelivered, words != before?.undelivered { Terminal.sayUnbuffered("    THE APP SAYS \(words)") }
        if let content = snapshot.content, content != before?.content { print(content) }
    }

    private func print(_ content: PhoneSnapshot.Content) {
        let rest = content.error ?? content.mediaType ?? content.link ?? content.coupon?.code ?? ""
        Terminal.sayUnbuffered(
            "    CONTENT \(content.richID) \(content.state.rawValue): \(content.title ?? "") \(content.message) \(rest)")
    }

    /// What was done at somebody's command.
    func done(_ command: String) { if json { print(Line(command: command)) } }

    func refuse(_ command: String, _ reason: String) {
        guard !json else { return print(Line(command: command, error: reason)) }
        Terminal.sayUnbuffered("    \(reason)")
    }

    func show(_ snapshot: PhoneSnapshot) {
        guard !json else { return print(Line(snapshot: snapshot)) }
        let facts = [
            "user \(snapshot.user ?? "nobody")", "app \(snapshot.process.rawValue)", "screen \(snapshot.screen.rawValue)",
            snapshot.locked ? "locked" : "unlocked", "network \(snapshot.network.rawValue)",
            "permission \(snapshot.permission.rawValue)", "badge \(snapshot.badge)",
        ]
        Terminal.sayUnbuffered("    " + facts.joined(separator: ", "))
        for notice in snapshot.notifications {
            Terminal.sayUnbuffered("    \(notice.richID.map { "\($0)" } ?? "-")  \(notice.title): \(notice.body)")
        }
    }

    func inbox(_ snapshot: PhoneSnapshot) {
        guard !json else { return print(Line(snapshot: snapshot)) }
        Terminal.sayUnbuffered("    \(snapshot.inbox.count) in the inbox, \(snapshot.unread) unread")
        for item in snapshot.inbox.prefix(20) {
            Terminal.sayUnbuffered(
                "    \(item.read ? " " : "*") \(item.id)  \(item.kind.rawValue)  \(item.title ?? "") \(item.message)")
        }
    }

    func help() {
        for (words, meaning) in PhoneOrder.explanations { Terminal.sayUnbuffered("    \(words)\n        \(meaning)") }
    }

    private func print(_ line: Line) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(line) else { return }
        Terminal.sayUnbuffered(String(decoding: data, as: UTF8.self))
    }

    /// Hours, minutes, seconds and thousandths, UTC.
    private static func clock(_ moment: Timestamp) -> String {
        let day = moment.milliseconds % 86_400_000
        let padded = { (number: Int64, width: Int) in
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let parts = [day / 3_600_000, day / 60_000 % 60, day / 1_000 % 60].map { padded($0, 2) }
        return parts.joined(separator: ":") + "." + padded(day % 1_000, 3)
    }
}
