#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    extension RichPushConfiguration {
        /// The words that the app left as they are, in the language that the app speaks. Read at every launch, because the system
        /// keeps the titles of buttons as they were registered, and in the service extension as in the app.
        package func inUsersLanguage(_ language: String = AppLanguage.current()) -> RichPushConfiguration {
            let words = AppLanguage.words(in: language)
            var configuration = self
            if moreTitle == Self.englishMoreTitle { configuration.moreTitle = words["more"] ?? moreTitle }
            if neutralText == Self.englishNeutralText { configuration.neutralText = words["neutral"] ?? neutralText }
            if replyTitle == Self.englishReplyTitle { configuration.replyTitle = words["reply"] ?? replyTitle }
            if replyFailedText == Self.englishReplyFailedText {
                configuration.replyFailedText = words["replyFailed"] ?? replyFailedText
            }
            return configuration
        }
    }
#endif
