#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    extension RichPushConfiguration {
        /// The words that the app left as they are, in the user's language. Read at every launch, because the system keeps the
        /// titles of buttons as they were registered.
        func inUsersLanguage() -> RichPushConfiguration {
            var configuration = self
            if moreTitle == Self.englishMoreTitle {
                configuration.moreTitle = Bundle.module.localizedString(forKey: "more", value: moreTitle, table: nil)
            }
            if neutralText == Self.englishNeutralText {
                configuration.neutralText = Bundle.module.localizedString(forKey: "neutral", value: neutralText, table: nil)
            }
            if replyTitle == Self.englishReplyTitle {
                configuration.replyTitle = Bundle.module.localizedString(forKey: "reply", value: replyTitle, table: nil)
            }
            if replyFailedText == Self.englishReplyFailedText {
                configuration.replyFailedText = Bundle.module.localizedString(
                    forKey: "replyFailed", value: replyFailedText, table: nil)
            }
            return configuration
        }
    }
#endif
