import Logging
import SharedAccess

extension SettingKind where Value == Logger.Level {
    /// A level of the log.
    static var logLevel: SettingKind { .choice }
}

extension SettingKind where Value == SecretText {
    /// A master key.
    static var masterKey: SettingKind {
        .scalar(
            "the Base64 text of 32 random bytes, such as openssl rand -base64 32 prints",
            parse: { MasterKey(text: $0) == nil ? nil : SecretText($0) }, format: { _ in "(secret)" })
    }
}

extension SettingKind where Value == String {
    /// A bundle id.
    static var topic: SettingKind {
        .word("a bundle id such as com.example.app", length: 1...155, characters: letters + digits + ".-")
    }

    /// What Apple calls a team or key id.
    static var tenLetters: SettingKind {
        .word("ten capital letters and digits", length: 10...10, characters: String(letters.dropFirst(26)) + digits)
    }

    /// The name of a hub.
    static var hubName: SettingKind {
        .scalar(
            "a name of 1 to 64 lower-case letters, digits and hyphens that is not taken",
            parse: { text in
                let allowed = Set(letters.prefix(26) + digits + "-")
                let fits = (1...64).contains(text.count) && text.allSatisfy(allowed.contains) && !text.hasPrefix("-")
                return fits && !SettingCatalog.reservedHubNames.contains(text) ? text : nil
            }, format: { $0 })
    }

    /// The beginning of a tag.
    static var tagPrefix: SettingKind {
        .word(
            "the beginning of a tag, 1 to 60 of A-Z a-z 0-9 _ @ # . : -", length: 1...60, characters: letters + digits + "_@#.:-")
    }
}

private let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
private let digits = "0123456789"
