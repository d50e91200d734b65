import ServiceErrors
import WireText

/// Reads JSON once before any decoder sees it, and refuses what decoders disagree about or break on: nesting beyond the limit, a name
/// twice in one object, half surrogates, `NaN`, anything after the value.
///
/// Names that occur twice are refused rather than tolerated, because the value that was checked and the value that is used
/// could be two. Errors name the byte, never what stands there.
public struct JSONScanner {
    /// How the complaint ends about what many readers take: they use one of the two.
    package static let sameNameTwice = "an object has the same name twice"

    private var cursor: JSONCursor
    private let known: Set<String>?
    /// The names on the way to the value that is read.
    private var path: [String] = []

    private init(_ cursor: JSONCursor, known: Set<String>?) {
        self.cursor = cursor
        self.known = known
    }

    /// Checks `bytes` and says what kind of value they are. With `known`, the first field whose path is not among them ends the reading: paths are kept only as far as
    /// the caller knows them, else a small body with one long name around many short ones would fill the memory.
    ///
    /// Throws `malformed-json`, and `invalid-field` for an unknown field and for a number that fits neither 64 bits nor a double.
    public static func scan(
        _ bytes: [UInt8], depthLimit: Int, known: Set<String>? = nil
    ) throws(ServiceError) -> JSONKind {
        do throws(JSONFault) {
            var scanner = JSONScanner(try JSONCursor(validating: bytes, depthLimit: depthLimit), known: known)
            scanner.cursor.skipBlanks()
            let kind = try scanner.value()
            try scanner.cursor.end()
            return kind
        } catch {
            throw switch error.problem {
            case .rule(let words): ServiceError(.invalidField, words)
            case .notUTF8: ServiceError(.malformedJSON, "the body is not UTF-8")
            default: ServiceError(.malformedJSON, "at byte \(error.offset): \(expectation(of: error.problem))")
            }
        }
    }

    private mutating func value() throws(JSONFault) -> JSONKind {
        let kind = cursor.kind
        switch kind {
        case .object: try object()
        case .list:
            var isFirst = true
            while try cursor.nextElement(&isFirst) { _ = try value() }
        case .string: try cursor.skipString()
        case .boolean, .null: try cursor.skipPlainValue()
        case .number, nil: try number()
        }
        return kind ?? .number
    }

    private mutating func object() throws(JSONFault) {
        var names: Set<String> = []
        var isFirst = true
        while let name = try cursor.nextName(&isFirst) {
            guard names.insert(name).inserted else { throw cursor.duplicateName }
            path.append(name)
            try checkField()
            _ = try value()
            path.removeLast()
        }
    }

    private func checkField() throws(JSONFault) {
        guard let known else { return }
        let field = path.joined(separator: ".")
        guard known.contains(field) else { throw cursor.fault(.rule("field '\(JSONFields.shown(field))' is not known")) }
    }

    private mutating func number() throws(JSONFault) {
        let text = cursor.text(try cursor.number())
        let isWhole = !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        // Decoders answer to numbers beyond their types with errors that name no field, or with infinity.
        guard isWhole ? Int64(text) != nil : Double(text)?.isFinite == true else {
            throw cursor.fault(.rule("\(JSONFields.place(path.joined(separator: "."))): the number is out of range"))
        }
    }

    private static func expectation(of problem: JSONFault.Problem) -> String {
        switch problem {
        case .notUTF8, .value: "a value was expected"
        case .tooDeep(let limit): "objects and lists are nested more than \(limit) deep"
        case .name: "a name in quotes was expected"
        case .colon: "a colon was expected"
        case .commaOrBrace: "a comma or a closing brace was expected"
        case .commaOrBracket: "a comma or a closing bracket was expected"
        case .digit: "a digit was expected"
        case .duplicateName: sameNameTwice
        case .unterminatedString: "a closing quote was expected"
        case .controlCharacter: "a control character stands in a string"
        case .unterminatedEscape: "an escape was expected"
        case .unknownEscape: "a string has an unknown escape"
        case .malformedUnicodeEscape: "four hexadecimal digits were expected"
        case .loneSurrogate: "half of a surrogate pair stands alone"
        case .end: "the end of the body was expected"
        case .rule(let words): words
        }
    }
}
