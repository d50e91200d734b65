import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reviews the keys of rich push in a body that was written by hand: the app silently ignores keys that it cannot read.
package struct RichKeyReview {
    /// A sentence about one key, which begins with the key in quotes unless the key is missing.
    package struct Remark: Hashable, Sendable {
        package var key: String
        package var sentence: String
    }

    private static let keys = ["richId", "richType", "richMessage", SubjectMark.key]
    /// A longer name is no slip of the fingers.
    private static let longestName = 40

    private let members: [String: JSONValue]

    /// Reads the members of a body.
    package init(members: [String: JSONValue]) { self.members = members }

    /// Reads a body; one that is no object has no keys.
    package init(payload: Data) {
        members = (try? JSONDecoder().decode(JSONValue.self, from: payload))?.members ?? [:]
    }

    /// Everything that there is to say.
    package var remarks: [Remark] {
        let misspelt = misspelt
        return [number(hasOthers: !misspelt.isEmpty), kind, message, subject].compactMap(\.self) + misspelt
    }

    /// A phone of the rich push tutorial reads it with or without quotes, and so does this app.
    private func number(hasOthers: Bool) -> Remark? {
        let none =
            "names no notification: it is a whole number from 1 to 2147483647 in quotes. The app takes the push for another's"
        switch members["richId"] {
        case nil:
            guard hasOthers || Self.keys.contains(where: { members[$0] != nil }) else { return nil }
            return Remark(key: "richId", sentence: "There is no 'richId', so for the app it is no rich push.")
        case .text(let text)?: return RichID(text) == nil ? remark("richId", "is '\(Self.short(text))' and \(none).") : nil
        case let value? where value.kindName == "a number":
            guard let id = value.wholeNumber.flatMap(Int32.init(exactly:)), RichID(number: id) != nil else {
                return remark("richId", "is a number that \(none).")
            }
            let sentence = "is a number, and a server of Clarion's sends a text: \"\(id)\". This app reads both; others may not."
            return remark("richId", sentence)
        case let value?: return remark("richId", "is \(value.kindName) and \(none).")
        }
    }

    private var kind: Remark? {
        let known = ContentKind.known.map(\.rawValue).joined(separator: ", ")
        switch members["richType"] {
        case nil: return nil
        case .text(let text)?:
            guard !ContentKind.known.contains(ContentKind(rawValue: text)) else { return nil }
            let sentence = "is '\(Self.short(text))', which this app does not know and takes for a file. It knows \(known)."
            return remark("richType", sentence)
        case let value?:
            return remark("richType", "is \(value.kindName), and the app takes it for a file. It is a text, one of \(known).")
        }
    }

    private var message: Remark? {
        guard let value = members["richMessage"] else { return nil }
        if case .text = value { return nil }
        return remark("richMessage", "is \(value.kindName), and the app reads no text from it. It is a text.")
    }

    /// The user that it names.
    private var subject: Remark? {
        guard let value = members[SubjectMark.key] else { return nil }
        if case .text(let text) = value, SubjectMark(text) != nil { return nil }
        return remark(SubjectMark.key, "is 16 digits of 0-9 a-f, and the app takes no notice of anything else.")
    }

    /// Names that are nearly those of a key. Others are the app's own.
    private var misspelt: [Remark] {
        members.keys.filter { !Self.keys.contains($0) && $0.count <= Self.longestName }.sorted().compactMap { name in
            if let meant = Self.keys.first(where: { Self.resemble(name, $0) }) {
                return remark(name, "is no key that the app knows; '\(meant)' is probably meant.")
            }
            guard Self.plain(name).hasPrefix("rich") else { return nil }
            let known = Self.keys.joined(separator: ", ")
            return remark(name, "is no key that the app knows, which are \(known).")
        }
    }

    private func remark(_ key: String, _ text: String) -> Remark { Remark(key: key, sentence: "'\(key)' \(text)") }

    private static func short(_ text: String) -> String { text.count <= longestName ? text : text.prefix(longestName) + "…" }

    /// `rich_id` and `RichID` as `richid`.
    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// The same but for case and punctuation, or but for two letters: one that is wrong, missing or too much, or two exchanged.
    private static func resemble(_ name: String, _ key: String) -> Bool {
        let (one, other) = (Array(plain(name)), Array(plain(key)))
        guard abs(one.count - other.count) <= 2 else { return false }
        var row = Array(0...other.count)
        for (i, letter) in one.enumerated() {
            var next = [i + 1]
            for (j, wanted) in other.enumerated() {
                next.append(min(row[j] + (letter == wanted ? 0 : 1), row[j + 1] + 1, next[j] + 1))
            }
            row = next
        }
        return row[other.count] <= 2
    }
}

extension JSONValue {
    /// The name of its type, for a sentence.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .flag(let flag): flag ? "true" : "false"
        case .integer, .number: "a number"
        case .text: "a text in quotes"
        case .list: "a list"
        case .object: "an object"
        }
    }
}
