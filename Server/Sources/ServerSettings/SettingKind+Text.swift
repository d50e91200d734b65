extension SettingKind where Value == String {
    /// Free text of 1 to `limit` characters without control characters.
    static func text(limit: Int) -> SettingKind {
        .scalar(
            "text of 1 to \(limit) characters on one line",
            parse: { text in
                let plain = text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
                return (1...limit).contains(text.count) && plain ? text : nil
            }, format: { $0 })
    }

    /// Text made of a fixed set of ASCII characters.
    static func word(_ accepts: String, length: ClosedRange<Int>, characters: String) -> SettingKind {
        let allowed = Set(characters)
        return .scalar(
            accepts,
            parse: { text in
                length.contains(text.count) && text.allSatisfy(allowed.contains) ? text : nil
            }, format: { $0 })
    }

    /// A path of the file system, relative to the working directory unless it begins with `/`.
    static var path: SettingKind {
        .scalar(
            "a path (~ is not expanded)",
            parse: { text in
                text.isEmpty || text.hasPrefix("~") || text.utf8.contains(0) || text.utf8.count > 4000 ? nil : text
            }, format: { $0 })
    }

    /// A host name or address.
    static var host: SettingKind {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")
        return .scalar(
            "a host name or an IP address, without a port",
            parse: { text in
                if AddressRange.bytes(ofAddress: text) != nil { return text }
                guard (1...253).contains(text.count), text.allSatisfy(allowed.contains) else { return nil }
                // A name that looks like an address but is none, such as 300.1.1.1, would be asked of the name service.
                return text.allSatisfy { $0.isNumber || $0 == "." } ? nil : text
            }, format: { $0 })
    }
}

extension SettingKind where Value == SecretText {
    /// Text of at most 10,000 characters that is never shown; line breaks are allowed, since keys have them.
    static var secret: SettingKind {
        .scalar(
            "text of 1 to 10000 characters",
            parse: { text in
                (1...10_000).contains(text.count) ? SecretText(text) : nil
            }, format: { _ in "(secret)" })
    }
}

extension SettingKind where Value == Bool {
    /// `true` or `false` and nothing else: `yes` and `on` mean different things to different readers of YAML.
    static var flag: SettingKind {
        .scalar("true or false", isFlag: true, parse: { $0 == "true" ? true : $0 == "false" ? false : nil }, format: { "\($0)" })
    }
}

extension SettingKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static var choice: SettingKind {
        let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return .scalar("one of \(words)", parse: { Value(rawValue: $0) }, format: { $0.rawValue })
    }
}
