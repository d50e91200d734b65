/// What must happen in a cell. Written from Reference/IOSClient.md#2, #3, #5, #6 and #8; it knows no code.
struct CellExpectation: Equatable {
    enum Texts: Equatable {
        /// The alert as the push carries it, neutral.
        case original
        /// What the backend says of the notification.
        case enriched
        /// The message that a silent push carries.
        case own
    }

    /// What the user sees when the push has been handled.
    enum Seen: Equatable {
        case nothing
        /// The app in front asks OK / More; an alert is in the list besides.
        case question(Texts, isListed: Bool)
        case notice(Texts, hasPicture: Bool)
    }

    /// What the user sees after the action.
    enum After: Equatable {
        /// There was nothing to touch.
        case impossible
        /// The same as before.
        case unchanged
        /// The touched thing is gone and nothing else changed.
        case gone
        /// The content screen, with the error text if there is one.
        case content(String, error: String?)
        /// The app asks the user to sign in again.
        case signIn
    }

    var seen: Seen
    var after: After
    /// The receipts that the server has in the end.
    var receipts: Set<String>
    /// Those that it has besides when the trouble is over and the app was opened.
    var later: Set<String>
    /// How often the system ran the extension, and what the app answered, once each.
    var extensionRuns: Int
    var answers: [String]
    /// Whether the app may find the push claimed by an extension whose time is over, and answer that it has no data.
    var mayFindClaim: Bool
}

extension CellExpectation {
    init(_ cell: Cell) {
        let rules = CellRules(cell: cell)
        seen = rules.seen
        after = rules.after
        extensionRuns = cell.hasAlert ? 1 : 0
        answers = rules.answers
        mayFindClaim = cell.trouble == .slow && cell.hasAlert && answers == ["failed"]
        let remembered: Set = rules.isDismissal && !rules.isDismissalHeard ? ["dismissed"] : []
        let noted = rules.notedByPush.union(rules.notedByAct)
        let waiting = rules.isFlushedAgain ? remembered : remembered.union(rules.notedLate)
        receipts = rules.takesReceipts ? noted.subtracting(waiting) : []
        later = noted.subtracting(receipts)
    }
}

/// What Reference/IOSClient.md says, as predicates over a cell.
private struct CellRules {
    let cell: Cell

    // MARK: What can be done at all

    /// Files and secrets are readable after the first unlock (5).
    var isReadable: Bool { cell.state != .beforeFirstUnlock }
    /// A force-quit app is not started for background pushes (2, A).
    var appRuns: Bool { cell.wakesApp && cell.state != .forceQuit }
    var isHandled: Bool { isReadable && (cell.hasAlert || appRuns) }
    /// The backend says what the notification is.
    var isDescribed: Bool { [.online, .slow, .wrongHash, .tooLarge, .hostileType].contains(cell.trouble) }
    var takesReceipts: Bool { ![.offline, .unauthorized, .failing].contains(cell.trouble) }

    // MARK: What is seen

    /// Enriched, else text only, else the original (6, fallback order).
    var seen: CellExpectation.Seen {
        let isInFront = cell.state == .foreground
        if cell.hasAlert {
            let texts: CellExpectation.Texts = isDescribed && isReadable ? .enriched : .original
            return isInFront
                ? .question(texts, isListed: true)
                : .notice(texts, hasPicture: texts == .enriched && cell.trouble == .online)
        }
        guard appRuns, isReadable else { return .nothing }
        switch cell.trouble {
        // What is not for this user, or was recalled, is not shown (7, 10).
        case .missing, .unauthorized: return .nothing
        // Mode A on failure: a text-only local notification (6).
        case .offline, .failing: return isInFront ? .question(.own, isListed: false) : .notice(.own, hasPicture: false)
        default:
            return isInFront
                ? .question(.enriched, isListed: false) : .notice(.enriched, hasPicture: cell.trouble == .online)
        }
    }

    /// newData, noData or failed, honestly (Reference/IOSClient.md#3).
    var answers: [String] {
        guard appRuns else { return [] }
        guard isReadable else { return ["failed"] }
        switch cell.trouble {
        case .online, .tooLarge: return ["newData"]
        case .missing: return ["noData"]
        default: return ["failed"]
        }
    }

    var isTouchable: Bool {
        switch seen {
        case .nothing: false
        // A question has no body to tap; More and OK are its buttons.
        case .question(_, let isListed): isListed || cell.act != .tap
        case .notice: true
        }
    }

    var opens: Bool { isTouchable && (cell.act == .tap || cell.act == .more) }

    var after: CellExpectation.After {
        if cell.act == .ignore { return .unchanged }
        guard isTouchable else { return .impossible }
        guard opens else { return .gone }
        switch cell.trouble {
        // Slow is not too slow for a user who waits.
        case .online, .slow: return .content("ready", error: nil)
        case .offline: return .content("missing", error: "The server cannot be reached. Check the network and try again.")
        case .unauthorized: return .signIn
        case .missing:
            return .content("failed", error: isListed ? "It is no longer there." : "There is nothing here for this user.")
        case .failing: return .content("missing", error: "The server failed (500). Try again later.")
        case .wrongHash: return .content("failed", error: "The content is not what the server announced, so it is not shown.")
        case .tooLarge: return .content("failed", error: "The content is too large for this phone.")
        case .hostileType: return .content("failed", error: "The content is of a kind that this app does not show.")
        }
    }

    /// Whether the app has read its inbox since, so that it knows that there was something.
    var isListed: Bool { cell.state == .foreground && cell.hasAlert }

    // MARK: Receipts (8)

    var failure: String? {
        switch cell.trouble {
        case .online, .missing, .tooLarge: nil
        case .slow: "timed-out"
        case .offline: "offline"
        case .unauthorized: "credential-rejected"
        case .failing: "server-failed"
        case .wrongHash: "content-mismatch"
        case .hostileType: "bad-media-type"
        }
    }

    var notedByPush: Set<String> {
        guard isHandled else { return [] }
        var noted: Set = ["delivered"]
        if cell.trouble == .online { noted.insert("fetched") }
        if let failure { noted.insert("failed " + failure) }
        return noted
    }

    /// What is written down when the time for sending is over.
    var notedLate: Set<String> { cell.trouble == .slow ? ["failed timed-out"] : [] }

    /// Whether anything runs afterwards that sends what waits: the app for the other half of the push, or the act.
    var isFlushedAgain: Bool {
        if cell.push == .both, appRuns, isReadable { return true }
        if isListed { return true }
        return isTouchable && (opens || isDismissalHeard)
    }

    /// OK on a question is no dismissal.
    var isDismissal: Bool {
        if case .notice = seen { return cell.act == .dismiss }
        return false
    }

    /// Before the first unlock nothing can be written down: the app remembers it until then.
    var isDismissalHeard: Bool { isDismissal && isReadable }

    /// Nothing of what is done with a session that the server has ended is written down.
    var isSessionOver: Bool { cell.trouble == .unauthorized && appRuns && isReadable }

    var notedByAct: Set<String> {
        guard isTouchable, !isSessionOver else { return [] }
        switch cell.act {
        case .ignore: return []
        case .dismiss: return isDismissal ? ["dismissed"] : []
        case .tap: return cell.trouble == .missing ? [] : ["opened"]
        case .more:
            return cell.trouble == .missing ? ["action richPushMore"] : ["action richPushMore", "opened"]
        }
    }
}
