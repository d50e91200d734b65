/// What holds and why: each setting with its value and the place it came from. Secrets are shown as `(secret)`.
public struct SettingsReport: Sendable, CustomStringConvertible {
    let resolutions: [SettingsResolver.Resolution]
    /// The file that was read, if any.
    package let file: String?

    /// A table for people: setting, value, where it came from.
    public var description: String {
        let rows = resolutions.map { (key: $0.key, value: Self.show($0), place: Self.place($0)) }
        let keyWidth = rows.map(\.key.count).max() ?? 0
        let valueWidth = min(rows.map(\.value.count).max() ?? 0, 40)
        let lines = rows.map { row in
            "\(Self.pad(row.key, keyWidth))  \(Self.pad(row.value, valueWidth))  \(row.place)"
        }
        return (["file: \(file ?? "none")", ""] + lines).joined(separator: "\n")
    }

    private static func show(_ resolution: SettingsResolver.Resolution) -> String {
        guard let texts = resolution.texts else { return "-" }
        if resolution.isSecret { return SecretText("").description }
        return texts.isEmpty ? "(empty list)" : texts.joined(separator: ", ")
    }

    private static func place(_ resolution: SettingsResolver.Resolution) -> String {
        guard !resolution.hidden.isEmpty else { return resolution.origin.description }
        return "\(resolution.origin), over \(resolution.hidden.map(\.description).joined(separator: " and "))"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension SettingsReport {
    /// How many settings have another value than their default. A default that is written out is none of them.
    package var changedCount: Int { resolutions.count { !$0.isStandard } }
}

extension SettingsReport: Encodable {
    private struct Entry: Encodable {
        var name: String
        /// Absent when there is no value.
        var value: [String]?
        var origin: String
        /// Sources of lower rank that name the setting too.
        var overrides: [String]
        var isDefault: Bool
    }

    private enum CodingKeys: String, CodingKey { case file, settings }

    /// Writes `file` and `settings`. The value of a secret is `(secret)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(file, forKey: .file)
        let entries = resolutions.map { each in
            Entry(
                name: each.key, value: each.isSecret ? each.texts.map { _ in [SecretText("").description] } : each.texts,
                origin: each.origin.description, overrides: each.hidden.map(\.description), isDefault: each.isStandard)
        }
        try container.encode(entries, forKey: .settings)
    }
}
