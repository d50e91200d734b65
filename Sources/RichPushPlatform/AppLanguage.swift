#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation

    /// Which of the languages of rich push an app and its extensions speak.
    ///
    /// The system chooses a language for each process by what its own bundle is translated to. A service extension has no words
    /// of its own, so it would stay English; it asks for the languages of the app that carries it.
    package enum AppLanguage {
        /// What rich push is translated to; the first is for everybody else.
        static let all = ["en", "sv", "de"]

        /// The language of the app that `bundle` is, or lies in, for a user with these preferences.
        package static func current(
            in bundle: Bundle = .main, preferences: [String] = Locale.preferredLanguages
        ) -> String {
            let spoken = app(around: bundle).localizations
            let bases = Set(spoken.compactMap(known))
            // What the user would like to read comes before what the app falls back to.
            if let wanted = preferences.lazy.compactMap(known).first(where: bases.contains) { return wanted }
            let chosen = Bundle.preferredLocalizations(from: spoken, forPreferences: preferences)
            return chosen.lazy.compactMap(known).first ?? all[0]
        }

        /// `de` of `de-CH`; `nil` for a language that rich push does not speak.
        private static func known(_ language: String) -> String? {
            let base = language.prefix { $0 != "-" && $0 != "_" }.lowercased()
            return all.contains(base) ? base : nil
        }

        /// An extension lies in a folder inside its app.
        private static func app(around bundle: Bundle) -> Bundle {
            guard bundle.bundleURL.pathExtension == "appex" else { return bundle }
            return Bundle(url: bundle.bundleURL.deletingLastPathComponent().deletingLastPathComponent()) ?? bundle
        }

        /// The words by their keys. Asked for by language, where `localizedString` would ask the process's bundle for it.
        static func words(in language: String) -> [String: String] {
            let file = Bundle.module.url(
                forResource: "Localizable", withExtension: "strings", subdirectory: nil, localization: language)
            let words = file.flatMap { try? Data(contentsOf: $0) }
                .flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) }
            return words as? [String: String] ?? [:]
        }
    }
#endif
