import RichPushModel

/// A command line for a simulated phone in a terminal.
public enum PhoneOrder: Hashable, Sendable {
    case act(PhoneAction)
    /// A notification by its number; without one the newest.
    case open(RichID?)
    case more(RichID?)
    case dismiss(RichID?)
    case reply(RichID?, String)
    /// Signs in again, as the user that the phone was started for.
    case signIn
    case inbox, show, help, quit
    /// Goes on when as many more notifications or questions were seen.
    case wait(Int)

    /// Why a line is no command.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String
    }

    /// The commands and their effects, for `help`.
    public static let explanations: [(command: String, meaning: String)] = [
        (
            "open [7], more [7], dismiss [7]",
            "touch a notification, the newest without its number; open also takes one of the inbox"
        ),
        ("reply [7] TEXT", "answer in a notification"),
        ("ok", "answer the app's question with OK; with More by `more`"),
        ("send TEXT", "send a push to oneself, as the app's button does"),
        ("app, home, close", "open the app, leave it, close its content"),
        ("lock, unlock", "the display"),
        ("quit-app, end-app", "throw the app out of the switcher; let the system end it"),
        ("restart", "switch the phone off and on: nothing is readable until `unlock`"),
        ("online, offline, slow", "the network"),
        ("permission|alerts|refresh|focus on|off", "settings"),
        ("low-power|budget|previews on|off", "more of them; `previews off` hides what notifications say on the lock screen"),
        ("install, remove, restore", "install the app anew, remove it, set the phone up from a backup"),
        ("sign-in, sign-out", "the app's user"),
        ("token TOKEN", "sign in with a token of the app's own accounts, or a one-time token"),
        ("inbox, show", "what the app has; how the phone stands"),
        ("wait [N]", "for scripts: go on when N more notifications were seen, at most a minute"),
        ("quit", "switch the phone off"),
    ]

    private static let plain: [String: PhoneOrder] = [
        "ok": .act(.alertOK), "app": .act(.openApp), "home": .act(.home), "close": .act(.closeContent), "lock": .act(.lock),
        "unlock": .act(.unlock), "quit-app": .act(.terminate), "end-app": .act(.endApp), "restart": .act(.restart),
        "online": .act(.setConnection(.online)), "offline": .act(.setConnection(.offline)),
        "slow": .act(.setConnection(.slow)), "install": .act(.installApp), "remove": .act(.removeApp),
        "restore": .act(.restoreBackup), "sign-in": .signIn, "sign-out": .act(.signOut), "inbox": .inbox, "show": .show,
        "help": .help, "quit": .quit, "exit": .quit, "clear": .act(.clearNotifications), "refresh": .act(.refreshInbox),
    ]

    /// Reads a line; nothing for an empty one and for a comment behind `#`.
    public static func parse(_ line: String) throws(Fault) -> PhoneOrder? {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let first = words.first, !first.hasPrefix("#") else { return nil }
        let name = first.lowercased()
        let rest = words.dropFirst()
        if rest.isEmpty, let order = plain[name] { return order }
        switch name {
        case "open": return .open(try number(rest))
        case "more": return .more(try number(rest))
        case "dismiss": return .dismiss(try number(rest))
        case "reply": return try reply(line, rest)
        case "send":
            guard !rest.isEmpty else { throw Fault(description: "send what? `send TEXT`") }
            return .act(.sendPush(.init(message: text(line, behind: 1))))
        case "token":
            guard let token = rest.first, rest.count == 1 else { throw Fault(description: "`token` takes one sign-in token") }
            return .act(.signInWithToken(String(token)))
        case "wait": return .wait(try count(rest))
        default: return try setting(name, rest)
        }
    }

    private static func number(_ words: ArraySlice<Substring>) throws(Fault) -> RichID? {
        guard let word = words.first else { return nil }
        guard words.count == 1, let id = RichID(word) else {
            throw Fault(description: "'\(words.joined(separator: " "))' is not the number of a notification")
        }
        return id
    }

    private static func count(_ words: ArraySlice<Substring>) throws(Fault) -> Int {
        guard let word = words.first else { return 1 }
        guard words.count == 1, let count = Int(word), (1...1_000).contains(count) else {
            throw Fault(description: "`wait` takes a number from 1 to 1000")
        }
        return count
    }

    private static func reply(_ line: String, _ words: ArraySlice<Substring>) throws(Fault) -> PhoneOrder {
        guard let first = words.first else { throw Fault(description: "reply what? `reply TEXT` or `reply 7 TEXT`") }
        guard words.count > 1, let id = RichID(first) else { return .reply(nil, text(line, behind: 1)) }
        return .reply(id, text(line, behind: 2))
    }

    /// The text behind the first words, as it was typed.
    private static func text(_ line: String, behind count: Int) -> String {
        var rest = line[...].drop(while: \.isWhitespace)
        for _ in 0..<count { rest = rest.drop { !$0.isWhitespace }.drop(while: \.isWhitespace) }
        return String(rest)
    }

    private static func setting(_ name: String, _ words: ArraySlice<Substring>) throws(Fault) -> PhoneOrder {
        let actions: [String: (Bool) -> PhoneAction] = [
            "permission": { .setPermission($0 ? .granted : .denied) }, "alerts": { .setAlerts(on: $0) },
            "refresh": { .setBackgroundRefresh(on: $0) }, "focus": { .setFocus(on: $0) },
            "low-power": { .setLowPower(on: $0) }, "budget": { .setWakeBudget(on: $0) },
            "previews": { .setPreviews(whenUnlocked: !$0) },
        ]
        guard let action = actions[name] else {
            let isKnown = plain[name] != nil
            throw Fault(description: isKnown ? "`\(name)` stands alone" : "'\(name)' is no command; see `help`")
        }
        switch words.map({ $0.lowercased() }) {
        case ["on"]: return .act(action(true))
        case ["off"]: return .act(action(false))
        default: throw Fault(description: "`\(name)` is `on` or `off`")
        }
    }

    /// A line as it may be printed: without a token.
    public static func printable(_ line: String) -> String {
        let words = line.split(whereSeparator: \.isWhitespace)
        return words.first?.lowercased() == "token" && words.count > 1 ? "token …" : line
    }

    /// The action on what the phone shows; `nil` for other commands. Throws when there is nothing to touch.
    public func action(on snapshot: PhoneSnapshot) throws(Fault) -> PhoneAction? {
        switch self {
        case .act(let action): return action
        case .open(let id):
            if let id, !snapshot.notifications.contains(where: { $0.richID == id }),
                snapshot.inbox.contains(where: { $0.id == id })
            {
                return .openInbox(id)
            }
            return .tapNotification(id: try notice(id, snapshot))
        case .more(let id):
            if snapshot.alert != nil, id == nil || snapshot.alert?.richID == id { return .alertMore }
            return .moreNotification(id: try notice(id, snapshot))
        case .dismiss(let id): return .dismissNotification(id: try notice(id, snapshot))
        case .reply(let id, let text): return .replyNotification(id: try notice(id, snapshot), text: text)
        case .signIn, .inbox, .show, .help, .quit, .wait: return nil
        }
    }

    private func notice(_ id: RichID?, _ snapshot: PhoneSnapshot) throws(Fault) -> String {
        guard let id else {
            guard let newest = snapshot.notifications.first else { throw Fault(description: "there is no notification") }
            return newest.id
        }
        guard let notice = snapshot.notifications.first(where: { $0.richID == id }) else {
            throw Fault(description: "there is no notification \(id)")
        }
        return notice.id
    }
}
