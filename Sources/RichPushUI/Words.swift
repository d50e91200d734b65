import Foundation

/// Every word that the views say themselves, by its key in `Localizable.strings`.
enum Words: String, CaseIterable {
    case okay, newNotification, inbox, inboxEmpty, unread, retry, loading, markRead, openLink, openLinkQuestion, cancel, share
    case couponCode, validUntil, noDescription, video, sound, file
    case notSignedIn, offline, gone, unavailable, refused, mismatch, tooLarge, wrongPassword, notUnderstood, storage, sealed,
        encrypted

    /// In the user's language.
    var text: String { Bundle.module.localizedString(forKey: rawValue, value: nil, table: nil) }
}
