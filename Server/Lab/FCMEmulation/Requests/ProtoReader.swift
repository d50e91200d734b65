import RichPushModel
import WireText

/// Reads JSON into a message as Google's reader does: a wrong field is named by its path, and the others are read all the same.
struct ProtoReader {
    typealias Entries = [(name: String, value: ProtoTree)]

    private(set) var violations: [FCMViolation] = []
    /// The names on the way to the value that is read now. They make a path only when there is something to say.
    private var place: [String] = []

    /// The members by the names of the API. Those that break a rule are left in where their type is right, so that a test can leave
    /// the rule out.
    mutating func read(_ members: Entries, as message: ProtoMessage) -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        var chosen: String?
        var nulls: Set<String> = []
        for (name, value) in members {
            guard let field = message.field(name) else {
                noteUnknown(name)
                continue
            }
            guard result[field.name] == nil, !nulls.contains(field.name) else {
                note(.duplicateField, "Invalid JSON payload received. Duplicate field \"\(name)\".")
                continue
            }
            if case .null = value {
                nulls.insert(field.name)
                continue
            }
            if message.oneOf.contains(field.name) {
                if chosen != nil {
                    noteSecond(name)
                    continue
                }
                chosen = field.name
            }
            place.append(field.name)
            if let read = read(value, field.shape) { result[field.name] = read }
            place.removeLast()
        }
        if !message.required.isSubset(of: result.keys) { note(.lightSettings) }
        return result
    }

    /// `message.android.notification.vibrate_timings[1]`.
    private var path: String {
        place.reduce("") { $0.isEmpty || $1.hasPrefix("[") ? $0 + $1 : "\($0).\($1)" }
    }

    private mutating func note(_ rule: FCMRule, _ text: String? = nil) {
        violations.append(FCMViolation(rule, field: path, text))
    }

    private mutating func noteUnknown(_ name: String) {
        let at = place.isEmpty ? "" : " at '\(path)'"
        note(.unknownField, "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\"\(at): Cannot find field.")
    }

    private mutating func noteSecond(_ name: String) {
        note(
            .oneTarget, "Invalid value at '\(path)' (oneof), oneof field 'target' is already set. Cannot set '\(name)'")
    }

    private mutating func read(_ value: ProtoTree, _ shape: ProtoShape) -> JSONValue? {
        switch (shape, value) {
        case (.text, .text(let text)): return .text(text)
        case (.checked(let rule, let isGood), .text(let text)):
            if !isGood(text) { note(rule) }
            return .text(text)
        case (.flag, .flag(let flag)): return .flag(flag)
        case (.int32, .number(let text)), (.int32, .text(let text)):
            guard let number = Double(text).flatMap({ Int32(exactly: $0) }) else { return wrong(value, "TYPE_INT32") }
            return .integer(Int64(number))
        case (.fraction, .number(let text)): return fraction(text)
        case (.duration(let bound), .text(let text)): return duration(text, atMost: bound)
        case (.moment, .text(let text)):
            if !ValueForm.isMoment(text) { note(.eventTime, "Invalid value at '\(path)': \(FCMRule.eventTime.facts.text)") }
            return .text(text)
        case (.texts, .list(let elements)): return list(elements, .text)
        case (.durations, .list(let elements)): return list(elements, .duration(atMost: nil))
        case (.data, .object(let entries)): return map(entries) { name, _ in Self.brokenKey(name).map { ($0, ".key") } }
        case (.headers(let judge), .object(let entries)):
            return map(entries) { name, value in judge(name, value).map { ($0, $0 == .apnsHeaderName ? ".key" : ".value") } }
        case (.free, .object): return value.plain
        case (.choice(let type, let words), _): return choice(value, type, words)
        case (.object(let message), .object(let members)): return .object(read(members, as: message))
        default: return wrong(value, shape.typeName)
        }
    }

    private mutating func wrong(_ value: ProtoTree, _ type: String) -> JSONValue? {
        note(.fieldType, "Invalid value at '\(path)' (\(type)), \(value.shown)")
        return nil
    }

    private mutating func fraction(_ text: String) -> JSONValue? {
        guard let number = Double(text), number.isFinite else { return wrong(.number(text), "TYPE_FLOAT") }
        if !(0...1).contains(number) { note(.lightColor) }
        return .number(number)
    }

    private mutating func duration(_ text: String, atMost bound: Int64?) -> JSONValue? {
        guard let milliseconds = ValueForm.milliseconds(ofDuration: text) else {
            let reason = "Field '\(place.last ?? "")', \(FCMRule.durationForm.facts.text)"
            note(.durationForm, "Invalid value at '\(path)' (type.googleapis.com/google.protobuf.Duration), \(reason)")
            return nil
        }
        if let bound, !(0...bound * 1_000).contains(milliseconds) { note(.ttlRange) }
        return .text(text)
    }

    private mutating func list(_ elements: [ProtoTree], _ shape: ProtoShape) -> JSONValue? {
        var read: [JSONValue] = []
        for (index, element) in elements.enumerated() {
            place.append("[\(index)]")
            if let value = self.read(element, shape) { read.append(value) }
            place.removeLast()
        }
        return .list(read)
    }

    /// Texts by texts. The entries are named by their order, as `message.data[0].value`.
    private mutating func map(_ entries: Entries, _ judge: (String, String) -> (FCMRule, String)?) -> JSONValue? {
        var read: [String: JSONValue] = [:]
        for (index, entry) in entries.enumerated() {
            let found: (FCMRule, String)?
            if case .text(let text) = entry.value {
                let isSecond = read.updateValue(.text(text), forKey: entry.name) != nil
                found = isSecond ? (.duplicateField, ".key") : judge(entry.name, text)
            } else {
                found = (.fieldType, ".value")
            }
            guard let (rule, part) = found else { continue }
            place.append("[\(index)]\(part)")
            if rule == .fieldType { _ = wrong(entry.value, "TYPE_STRING") } else { note(rule) }
            place.removeLast()
        }
        return .object(read)
    }

    private static func brokenKey(_ name: String) -> FCMRule? {
        if name == "from" || name == "message_type" { return .dataKeyReserved }
        return name.hasPrefix("google") || name.hasPrefix("gcm") ? .dataKeyPrefix : nil
    }

    /// A word in any case, as clients write some of them in lower case, or its number.
    private mutating func choice(_ value: ProtoTree, _ type: String, _ words: [String]) -> JSONValue? {
        switch value {
        case .text(let text) where words.contains(text.uppercased()): return .text(text.uppercased())
        case .number(let text):
            if let number = Int(text), words.indices.contains(number) { return .text(words[number]) }
        default: break
        }
        let name = "type.googleapis.com/google.firebase.fcm.v1.\(type)"
        note(.enumValue, "Invalid value at '\(path)' (\(name)), \(value.shown)")
        return nil
    }
}

extension ProtoShape {
    /// As Google's sentences name the type.
    fileprivate var typeName: String {
        switch self {
        case .text, .checked, .texts: "TYPE_STRING"
        case .flag: "TYPE_BOOL"
        case .int32: "TYPE_INT32"
        case .fraction: "TYPE_FLOAT"
        case .duration, .durations: "type.googleapis.com/google.protobuf.Duration"
        case .moment: "type.googleapis.com/google.protobuf.Timestamp"
        case .data, .headers: "Map"
        case .free: "type.googleapis.com/google.protobuf.Struct"
        case .choice(let type, _): "type.googleapis.com/google.firebase.fcm.v1.\(type)"
        case .object: "type.googleapis.com/google.firebase.fcm.v1.Message"
        }
    }
}
