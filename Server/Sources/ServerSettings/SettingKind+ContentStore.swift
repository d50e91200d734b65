import ContentStorage

extension SettingKind where Value == String {
    /// The name of a bucket.
    static var bucket: SettingKind {
        .scalar(
            "the name of a bucket: 3 to 63 lower-case letters, digits, hyphens and dots",
            parse: { S3Location.isBucket($0) ? $0 : nil }, format: { $0 })
    }

    /// The beginning of keys.
    static var keyPrefix: SettingKind {
        .scalar(
            "the beginning of keys: at most 200 letters, digits and ._-/ without a slash at its beginning",
            parse: { !$0.isEmpty && S3Location.isPrefix($0) ? $0 : nil }, format: { $0 })
    }

    /// A region of a store.
    static var region: SettingKind {
        .word("a region such as eu-central-1", length: 1...64, characters: "abcdefghijklmnopqrstuvwxyz0123456789-")
    }

    /// The id of an access key. It stands between slashes in a signed header.
    static var storeKeyID: SettingKind {
        .scalar(
            "the id of an access key: 1 to 128 letters, digits and signs without slash and comma",
            parse: { text in
                let fits = text.unicodeScalars.allSatisfy { (33...126).contains($0.value) && $0 != "/" && $0 != "," }
                return fits && (1...128).contains(text.count) ? text : nil
            }, format: { $0 })
    }
}

extension SettingKind where Value == S3Endpoint {
    /// Where a store answers.
    static var storeAddress: SettingKind {
        .scalar(
            "an address such as https://s3.example.com or http://127.0.0.1:9000 (no path)", parse: { S3Endpoint($0) },
            format: { $0.description })
    }
}

extension SettingKind where Value == SecretText {
    /// A secret without spaces; the line break at the end of a file does not count.
    static var secretWord: SettingKind {
        .scalar(
            "one word of 1 to 4000 letters, digits and signs",
            parse: { text in
                let word = text.hasSuffix("\n") ? text.dropLast() : text[...]
                let fits = word.unicodeScalars.allSatisfy { (33...126).contains($0.value) }
                return fits && (1...4_000).contains(word.count) ? SecretText(String(word)) : nil
            }, format: { _ in "(secret)" })
    }
}
