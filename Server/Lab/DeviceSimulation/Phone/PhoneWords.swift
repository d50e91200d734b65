import RichPushDevice

/// What the app tells its user when something went wrong.
enum PhoneWords {
    /// What a sign-out lost; `nil` when that was nothing.
    static func sentence(for result: SignOutResult) -> String? {
        var sentences: [String] = []
        if result.lostReplies > 0 {
            let count = result.lostReplies == 1 ? "An answer" : "\(result.lostReplies) answers"
            let rest = result.lostReplies == 1 ? "It is" : "They are"
            sentences.append("\(count) of yours did not reach the server. \(rest) gone from this phone.")
        }
        if result.lostNotes > 0 { sentences.append("What you read here last may still count as unread elsewhere.") }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    static func sentence(for error: RichPushError) -> String {
        switch error {
        case .notSignedIn: "Sign in first."
        case .badUserName: "A user name has 1 to 64 English letters, digits and _ @ . -"
        case .badTag: "A tag has 1 to 120 letters, digits and _ @ # . : -"
        case .wrongPassword: "User name and password do not match."
        case .credentialRejected: "Your sign-in has ended. Sign in again."
        case .passwordNotKept: "Sign in again to send."
        case .busy: "One moment, the app is busy."
        case .offline: "The server cannot be reached. Check the network and try again."
        case .timedOut: "The server did not answer in time. Try again."
        case .notFound: "There is nothing here for this user."
        case .recalled: "It is no longer there."
        case .serverBusy: "The server is busy. Try again in a moment."
        case .serverFailed(let status): "The server failed (\(status)). Try again later."
        case .refused(let problem) where problem.status == 403: problem.detail ?? sentence(for: .notFound)
        case .refused(let problem): problem.detail ?? problem.title
        case .badAnswer, .badRedirect: "The server's answer was not understood."
        case .contentMismatch: "The content is not what the server announced, so it is not shown."
        case .badMediaType: "The content is of a kind that this app does not show."
        case .tooLarge: "The content is too large for this phone."
        case .notSealedForThisDevice: "It is encrypted, and not for this phone."
        case .sealBroken: "It is encrypted, and does not open. Perhaps somebody changed it on the way."
        case .claimed: "It is being downloaded. Try again in a moment."
        case .storage: "The phone could not keep it. Is there room?"
        }
    }
}
