import ArgumentParser
import CommandLineSupport
import DeviceSimulation
import Foundation
import RichPushModel
import ServerSettings

/// A phone in a terminal from its start to `quit` or the end of the input.
struct PhoneSession: Sendable {
    /// How long `wait` waits.
    private static let longestWait: Duration = .seconds(60)

    /// How the app signs in.
    enum SignIn: Sendable {
        case password(UserName, SecretText)
        /// Of the app's own accounts, or a one-time token: it says whom it signs in.
        case token(SecretText)

        fileprivate var action: PhoneAction {
            switch self {
            case .password(let user, let password): .signIn(user: user.text, password: password.reveal())
            case .token(let token): .signInWithToken(token.reveal())
            }
        }
    }

    let phone: SimulatedPhone
    let signIn: SignIn
    let printer: PhonePrinter

    func run() async throws {
        let printing = Task { await printUpdates() }
        await phone.start()
        let result: Result<Void, any Error>
        do {
            try await beginSession()
            result = .success(await obey())
        } catch { result = .failure(error) }
        await phone.stop()
        await printing.value
        try result.get()
    }

    /// Prints what happens until the phone is off. What the display shows comes from the moment on when this user is signed in: what
    /// is left of another is not for them.
    private func printUpdates() async {
        var first: PhoneSnapshot?
        var before: PhoneSnapshot?
        for await update in phone.updates() {
            switch update {
            case .story(let step): printer.print(step)
            case .snapshot(let snapshot):
                let beginning = first ?? snapshot
                first = beginning
                guard before != nil || isOurs(snapshot) else { continue }
                printer.print(snapshot, before: before, beginning: beginning)
                before = snapshot
            }
        }
    }

    private func isOurs(_ snapshot: PhoneSnapshot) -> Bool {
        guard let signedIn = snapshot.user, case .password(let user, _) = signIn else { return snapshot.user != nil }
        return signedIn.lowercased() == user.text.lowercased()
    }

    /// A phone whose app is signed in stays so; another user is signed out first. One without the app waits for the order to install it.
    private func beginSession() async throws {
        guard await phone.snapshot.installed else {
            return Terminal.note("clarion: the app is not on this phone; type install, then app and sign-in")
        }
        do throws(PhoneActionError) {
            try await phone.perform(.openApp)
            let before = await phone.snapshot
            if before.user != nil {
                if isOurs(before) { return }
                try await phone.perform(.signOut)
            }
            try await phone.perform(signIn.action)
        } catch {
            Terminal.note("clarion: \(error.sentence)")
            throw ExitCode.failure
        }
        let snapshot = await phone.snapshot
        guard snapshot.user == nil else { return }
        let reason = snapshot.signIn.error ?? "the app could not sign in"
        Terminal.note("clarion: \(reason)")
        throw snapshot.signIn.isRefused ? ExitCode.noPermission : ExitCode.unreachable
    }

    private func obey() async {
        for await line in InputLines.all {
            let order: PhoneOrder
            do throws(PhoneOrder.Fault) {
                guard let parsed = try PhoneOrder.parse(line) else { continue }
                order = parsed
            } catch {
                printer.refuse(PhoneOrder.printable(line), error.description)
                continue
            }
            if order == .quit { return }
            await obey(order, PhoneOrder.printable(line))
        }
    }

    private func obey(_ order: PhoneOrder, _ line: String) async {
        do {
            switch order {
            case .help: printer.help()
            case .show: printer.show(await phone.snapshot)
            case .inbox: printer.inbox(await phone.snapshot)
            case .signIn: try await phone.perform(signIn.action)
            case .wait(let count): if await !wait(for: count) { return printer.refuse(line, "nothing came within a minute") }
            default:
                if let action = try order.action(on: await phone.snapshot) { try await phone.perform(action) }
            }
            printer.done(line)
        } catch let error as PhoneActionError {
            printer.refuse(line, error.sentence)
        } catch {
            printer.refuse(line, "\(error)")
        }
    }

    /// Whether as many more were shown in time. What was shown since the last `wait` counts.
    private func wait(for count: Int) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.phone.seen(count) }
            group.addTask {
                try? await Task.sleep(for: Self.longestWait)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
    }
}

/// Prints what happens on a phone in a terminal: human-readable, or one JSON object per line.
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

    /// A command was performed.
    func done(_ command: String) { if json { print(Line(command: command)) } }

    func refuse(_ command: String, _ reason: String) {
        guard !json else { return print(Line(command: command, error: reason)) }
        Terminal.sayUnbuffered("    \(reason)")
    }

    func show(_ snapshot: PhoneSnapshot) {
        guard !json else { return print(Line(snapshot: snapshot)) }
        let facts = [
            "user \(snapshot.user ?? "none")", "app \(snapshot.process.rawValue)", "screen \(snapshot.screen.rawValue)",
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
        for (command, meaning) in PhoneOrder.explanations { Terminal.sayUnbuffered("    \(command)\n        \(meaning)") }
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

/// Standard input, a line at a time. A thread reads, because reading blocks.
private enum InputLines {
    /// The lines until the end of the input, once. A reader that is slower than a script loses nothing: the thread waits.
    static var all: AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .unbounded)
        let thread = Thread {
            // The writer bounds the input; no script has more lines than this.
            for _ in 0..<100_000 {
                guard let line = readLine() else { break }
                continuation.yield(line)
            }
            continuation.finish()
        }
        thread.start()
        return lines
    }
}
