import Foundation
import RichPushDevice
import RichPushModel

/// Every string of the views, by its key in `Localizable.strings`.
enum LocalizedText: String, CaseIterable {
    case okay, newNotification, inbox, inboxEmpty, unread, retry, loading, markRead, openLink, openLinkQuestion, cancel, share
    case couponCode, validUntil, noDescription, video, sound, file
    case notSignedIn, offline, gone, unavailable, refused, mismatch, tooLarge, wrongPassword, notUnderstood, storage, sealed,
        encrypted

    /// In the user's language.
    var text: String { Bundle.module.localizedString(forKey: rawValue, value: nil, table: nil) }
}

extension RichPushError {
    /// What went wrong, for the user and in the user's language. Text from the server is not translated.
    public var sentence: String {
        switch self {
        case .notSignedIn, .credentialRejected, .passwordNotKept, .badToken, .tokenRejected: LocalizedText.notSignedIn.text
        case .badUserName, .wrongPassword: LocalizedText.wrongPassword.text
        case .offline, .timedOut, .serverBusy, .serverFailed, .busy, .claimed, .tokenUnavailable:
            LocalizedText.offline.text
        case .notFound: LocalizedText.unavailable.text
        case .recalled: LocalizedText.gone.text
        case .refused(let problem):
            problem.detail ?? (problem.status == 403 ? LocalizedText.unavailable : LocalizedText.refused).text
        case .badTag: LocalizedText.refused.text
        case .badAnswer, .badRedirect: LocalizedText.notUnderstood.text
        case .contentMismatch, .badMediaType: LocalizedText.mismatch.text
        case .tooLarge: LocalizedText.tooLarge.text
        case .notSealedForThisDevice, .sealBroken: LocalizedText.sealed.text
        case .storage: LocalizedText.storage.text
        }
    }
}

extension Timestamp {
    /// For views, which know dates.
    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension ContentKind {
    /// The name of a symbol of the system.
    var symbol: String {
        switch self {
        case .image: "photo"
        case .sound: "speaker.wave.2"
        case .video: "film"
        case .link: "link"
        case .coupon: "ticket"
        case .text: "text.bubble"
        default: "doc"
        }
    }
}
