import RichPushDevice
import RichPushModel

// What the screens of an app say, on a phone of any kind.

extension PhoneSnapshot.Content {
    /// The content screen as the engine wants it shown.
    init(_ opened: OpenedContent) {
        self.init(richID: opened.richID, kind: opened.kind, title: opened.title, message: opened.message, state: .loading)
        subtitle = opened.subtitle
        altText = opened.altText
        fileName = opened.fileName
        mediaType = opened.content?.mediaType
        hasMedia = opened.content != nil
        link = opened.link?.absoluteString
        coupon = opened.coupon
        sealed = opened.isSealed ? true : nil
        switch opened.state {
        case .loading: break
        case .ready: state = .ready
        case .missing(let reason):
            state = .missing
            error = PhoneMessages.sentence(for: reason)
        case .failed(let reason):
            state = .failed
            error = PhoneMessages.sentence(for: reason)
        }
    }
}

extension PhoneSnapshot.Progress {
    /// A sign-in that failed.
    init(failedSignIn failure: RichPushError) {
        error = PhoneMessages.sentence(for: failure)
        switch failure {
        case .wrongPassword, .tokenRejected: isRefused = true
        default: break
        }
    }
}

extension SimulatedPhoneConfiguration {
    /// What the app's send screen sends; the content is uploaded first.
    func request(
        for draft: PhoneAction.PushDraft, by app: any AppRole, at now: Timestamp
    ) async throws(RichPushError) -> SendRequest {
        var request = SendRequest(message: draft.message ?? "Check this image out!")
        request.audience = draft.audience
        request.title = draft.title
        request.style = draft.style
        let kind = draft.kind ?? (samples[.image] == nil ? .text : .image)
        request.kind = kind
        if let sample = samples[kind] {
            request.contentID = try await app.upload(
                sample.data, mediaType: sample.mediaType, fileName: sample.fileName
            ).id
            request.altText = sample.altText
        } else if kind == .link {
            request.link = "https://www.swift.org/documentation/"
        } else if kind == .coupon {
            request.coupon = Coupon(
                code: "CLARION-20", headline: "20 % off your next order", terms: "One per customer, in all shops.",
                validUntil: now + .seconds(30 * 86_400))
        }
        return request
    }
}

/// The app's messages to the user about failures.
enum PhoneMessages {
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
        case .badToken: "That is no sign-in token."
        case .tokenRejected(let problem): problem.detail ?? problem.title
        case .tokenUnavailable: "The app has no sign-in token now. Try again later."
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
        case .sealBroken: "It is encrypted, and does not open. It may have been changed on the way."
        case .claimed: "It is being downloaded. Try again in a moment."
        case .storage: "The phone could not keep it. Is there room?"
        }
    }
}
