#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushDevice

    /// The language that an app and its extensions use.
    ///
    /// The system chooses a language for each process from the translations of its own bundle. A service extension has no strings and
    /// would stay English, so it uses the languages of the app that contains it.
    package enum AppLanguage {
        /// The translations of rich push; the first is the fallback.
        static let all = ["en", "sv", "de"]

        /// The language of the app that `bundle` is, or lies in, for a user with these preferences.
        package static func current(
            in bundle: Bundle = .main, preferences: [String] = Locale.preferredLanguages
        ) -> String {
            let spoken = app(around: bundle).localizations
            let bases = Set(spoken.compactMap(known))
            // The user's preference comes before the app's fallback.
            if let wanted = preferences.lazy.compactMap(known).first(where: bases.contains) { return wanted }
            let chosen = Bundle.preferredLocalizations(from: spoken, forPreferences: preferences)
            return chosen.lazy.compactMap(known).first ?? all[0]
        }

        /// `de` of `de-CH`; `nil` for a language without a translation.
        private static func known(_ language: String) -> String? {
            let base = language.prefix { $0 != "-" && $0 != "_" }.lowercased()
            return all.contains(base) ? base : nil
        }

        /// An extension lies in a folder inside its app.
        private static func app(around bundle: Bundle) -> Bundle {
            guard bundle.bundleURL.pathExtension == "appex" else { return bundle }
            return Bundle(url: bundle.bundleURL.deletingLastPathComponent().deletingLastPathComponent()) ?? bundle
        }

        /// The strings by their keys. Read by language, because `localizedString` would use the language of the process's bundle.
        static func strings(in language: String) -> [String: String] {
            let file = Bundle.module.url(
                forResource: "Localizable", withExtension: "strings", subdirectory: nil, localization: language)
            let strings = file.flatMap { try? Data(contentsOf: $0) }
                .flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) }
            return strings as? [String: String] ?? [:]
        }
    }

    extension RichPushConfiguration {
        /// Puts the texts that the app left at their defaults into the app's language. Read at every launch, because the system keeps
        /// the titles of buttons as they were registered, and in the service extension as in the app.
        package func inUsersLanguage(_ language: String = AppLanguage.current()) -> RichPushConfiguration {
            let strings = AppLanguage.strings(in: language)
            var configuration = self
            if moreTitle == Self.englishMoreTitle { configuration.moreTitle = strings["more"] ?? moreTitle }
            if neutralText == Self.englishNeutralText { configuration.neutralText = strings["neutral"] ?? neutralText }
            if replyTitle == Self.englishReplyTitle { configuration.replyTitle = strings["reply"] ?? replyTitle }
            if replyFailedText == Self.englishReplyFailedText {
                configuration.replyFailedText = strings["replyFailed"] ?? replyFailedText
            }
            return configuration
        }
    }
#endif
