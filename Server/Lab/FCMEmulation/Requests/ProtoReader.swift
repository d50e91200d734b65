import RichPushModel
import WireText

/// Reads JSON into a message as Google's reader does: a wrong field is named by its path, and the others are read all the same.
struct ProtoReader {
    private(set) var violations: [FCMViolation] = []
    private var cursor: JSONCursor
    /// The names on the way to the value that is read now. They make a path only when there is something to say.
    private var place: [String] = []

    init(_ bytes: [UInt8]) throws(JSONFault) {
        cursor = try JSONCursor(validating: bytes, depthLimit: 50)
        cursor.skipBlanks()
    }

    /// A whole body by the names of the API; `nil` for one that is no object. Values that break a rule are left in where their
    /// type is right, so that a test can leave the rule out.
    mutating func body(_ message: ProtoMessage) throws(JSONFault) -> [String: JSONValue]? {
        var body: [String: JSONValue]?
        if cursor.kind == .object { body = try members(of: message) } else { try cursor.skipValue() }
        try cursor.end()
        return body
    }

    private mutating func members(of message: ProtoMessage) throws(JSONFault) -> [String: JSONValue] {
        var result: [String: JSONValue] = [:]
        var (seen, hasChoice, isFirst) = (Set<String>(), false, true)
        while let name = try cursor.nextName(&isFirst) {
            guard let field = message.fields[name] else {
                let at = place.isEmpty ? "" : " at '\(path)'"
                try skip(
                    .unknownField, "Invalid JSON payload received. Unknown name \"\(name.prefix(100))\"\(at): Cannot find field.")
                continue
            }
            let isChoice = message.oneOf.contains(field.name)
            if !seen.insert(field.name).inserted {
                try skip(.duplicateField, "Invalid JSON payload received. Duplicate field \"\(name)\".")
            } else if cursor.kind == .null {
                try cursor.skipValue()
            } else if isChoice, hasChoice {
                let taken = "oneof field 'target' is already set. Cannot set '\(name)'"
                try skip(.oneTarget, "Invalid value at '\(path)' (oneof), \(taken)")
            } else {
                hasChoice = hasChoice || isChoice
                result[field.name] = try value(field.shape, at: field.name)
            }
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

    /// Passes a member that is not read.
    private mutating func skip(_ rule: FCMRule, _ text: String) throws(JSONFault) {
        note(rule, text)
        try cursor.skipValue()
    }

    /// Passes a value that is none of its shape.
    private mutating func refuse(_ shape: ProtoShape, from start: Int) throws(JSONFault) -> JSONValue? {
        cursor.position = start
        let kind = cursor.kind
        try cursor.skipValue()
        let end = min(cursor.position, start + 100)
        let shown = kind == .object ? "{…}" : kind == .list ? "[…]" : cursor.text(start..<end)
        note(shape.rule, "Invalid value at '\(path)' (\(shape.typeName)), \(shown)")
        return nil
    }

    private mutating func value(_ shape: ProtoShape, at part: String) throws(JSONFault) -> JSONValue? {
        place.append(part)
        let value = try value(shape)
        place.removeLast()
        return value
    }

    private mutating func value(_ shape: ProtoShape) throws(JSONFault) -> JSONValue? {
        let start = cursor.position
        switch (shape, cursor.kind) {
        case (.text, .string): return .text(try cursor.string())
        case (.checked(let rule, let isGood), .string):
            let text = try cursor.string()
            if !isGood(text) { note(rule) }
            return .text(text)
        case (.moment, .string):
            let text = try cursor.string()
            if !ValueForm.isMoment(text) { note(.eventTime, "Invalid value at '\(path)': \(FCMRule.eventTime.text)") }
            return .text(text)
        case (.duration(let bound), .string): return duration(try cursor.string(), atMost: bound)
        case (.flag, .boolean):
            let flag = cursor.peek == UInt8(ascii: "t")
            try cursor.skipPlainValue()
            return .flag(flag)
        case (.list(let shape), .list): return try list(of: shape)
        case (.map(let judge), .object): return try map(judge)
        case (.object(let message), .object): return .object(try members(of: message))
        case (.free, .object):
            try cursor.skipValue()
            return JSONValue(json: Array(cursor.bytes[start..<cursor.position]))
        case (_, .number), (_, .string):
            let text = cursor.kind == .string ? try cursor.string() : cursor.text(try cursor.number())
            if let value = scalar(text, shape, isNumber: cursor.bytes[start] != UInt8(ascii: "\"")) { return value }
        default: break
        }
        return try refuse(shape, from: start)
    }

    /// What may be written as a number. A word is taken in any case, as clients write some of them in lower case.
    private mutating func scalar(_ text: String, _ shape: ProtoShape, isNumber: Bool) -> JSONValue? {
        switch shape {
        case .int32: return Double(text).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
        case .fraction where isNumber:
            guard let number = Double(text), number.isFinite else { return nil }
            if !(0...1).contains(number) { note(.lightColor) }
            return .number(number)
        case .choice(_, let words) where isNumber:
            return Int(text).flatMap { words.indices.contains($0) ? .text(words[$0]) : nil }
        case .choice(_, let words): return words.contains(text.uppercased()) ? .text(text.uppercased()) : nil
        default: return nil
        }
    }

    private mutating func duration(_ text: String, atMost bound: Int64?) -> JSONValue? {
        guard let milliseconds = ValueForm.milliseconds(ofDuration: text) else {
            let reason = "Field '\(place.last ?? "")', \(FCMRule.durationForm.text)"
            note(.durationForm, "Invalid value at '\(path)' (type.googleapis.com/google.protobuf.Duration), \(reason)")
            return nil
        }
        if let bound, !(0...bound * 1_000).contains(milliseconds) { note(.ttlRange) }
        return .text(text)
    }

    private mutating func list(of shape: ProtoShape) throws(JSONFault) -> JSONValue {
        var (elements, index, isFirst) = ([JSONValue](), 0, true)
        while try cursor.nextElement(&isFirst) {
            if let element = try value(shape, at: "[\(index)]") { elements.append(element) }
            index += 1
        }
        return .list(elements)
    }

    /// Texts by texts. The entries are named by their order, as `message.data[0].value`.
    private mutating func map(_ judge: (String, String) -> FCMRule?) throws(JSONFault) -> JSONValue {
        var (entries, index, isFirst) = ([String: JSONValue](), 0, true)
        while let name = try cursor.nextName(&isFirst) {
            if let value = try value(.text, at: "[\(index)].value"), case .text(let text) = value {
                let isSecond = entries.updateValue(value, forKey: name) != nil
                if let rule = isSecond ? .duplicateField : judge(name, text) {
                    let isKey = [.duplicateField, .dataKeyReserved, .dataKeyPrefix, .apnsHeaderName].contains(rule)
                    place.append("[\(index)].\(isKey ? "key" : "value")")
                    note(rule)
                    place.removeLast()
                }
            }
            index += 1
        }
        return .object(entries)
    }

}

extension JSONValue {
    var asText: String? { if case .text(let text) = self { text } else { nil } }

    /// A member of an object.
    subscript(_ name: String) -> JSONValue? { members?[name] }

    /// How many bytes it has as JSON without blanks.
    var byteCount: Int {
        switch self {
        case .null: 4
        case .flag(let flag): flag ? 4 : 5
        case .integer(let number): "\(number)".utf8.count
        case .number(let number): "\(number)".utf8.count
        case .text(let text): JSONText.string(text).utf8.count
        case .list(let list): list.reduce(2 + max(0, list.count - 1)) { $0 + $1.byteCount }
        case .object(let members):
            members.reduce(2 + max(0, members.count - 1)) { $0 + JSONText.string($1.key).utf8.count + 1 + $1.value.byteCount }
        }
    }
}
