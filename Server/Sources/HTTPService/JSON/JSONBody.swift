import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Request {
    /// The whole body, at most `limit` bytes. Throws `payload-too-large`, before reading when the header says so.
    public func readBody(limit: Int) async throws -> [UInt8] {
        let fault = ServiceError(.payloadTooLarge, "the body has more than \(limit) bytes")
        if let promised = headers[.contentLength].flatMap({ Int($0) }), promised > limit { throw fault }
        var bytes: [UInt8] = []
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= limit else { throw fault }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }

    /// The body as JSON. Throws `unsupported-media-type`, `payload-too-large`, `malformed-json`, `invalid-field`.
    public func readJSON<Value: Decodable>(
        _ type: Value.Type, known: Set<String>? = nil, limits: JSONLimits = JSONLimits()
    ) async throws -> Value {
        try JSONFields.decode(type, from: await jsonBytes(limits: limits), known: known, depthLimit: limits.depth)
    }

    /// The bytes of a body that is declared as JSON, unread. Throws `unsupported-media-type`, `payload-too-large`.
    public func jsonBytes(limits: JSONLimits = JSONLimits()) async throws -> [UInt8] {
        try requireJSON()
        return try await readBody(limit: limits.byteCount)
    }

    /// Throws `unsupported-media-type` unless the body is declared as JSON, or as another text of this media type, in UTF-8.
    public func requireJSON(as mediaType: String = "application/json") throws(ServiceError) {
        let declared = headers[.contentType].flatMap { HeaderParameters($0) }
        let charset = declared?.parameters["charset"]?.lowercased() ?? "utf-8"
        guard let declared, declared.value.lowercased() == mediaType, charset == "utf-8" else {
            throw ServiceError(.unsupportedMediaType, "Content-Type must be \(mediaType) in UTF-8")
        }
    }

    /// Whether the head announces a body; one without a length may still turn out empty.
    public var announcesBody: Bool {
        if let length = headers[.contentLength] { return length != "0" }
        return headers[.transferEncoding] != nil || headers[.contentType] != nil
    }

    /// The body in the chunks in which it arrives, as byte arrays for targets that know no NIO. Its size is bounded by the router.
    public var chunks: AsyncMapSequence<RequestBody, [UInt8]> { body.map { Array($0.readableBytesView) } }
}

/// How much JSON a body may hold.
public struct JSONLimits: Sendable {
    /// The most bytes.
    public var byteCount: Int
    /// The deepest nesting of objects and lists.
    public var depth: Int

    /// Creates limits; the defaults are far above anything the API describes.
    public init(byteCount: Int = 256 * 1024, depth: Int = 16) {
        self.byteCount = byteCount
        self.depth = depth
    }
}

extension Response {
    /// An answer with `value` as JSON, its names in alphabetical order.
    public static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(value))
        return Response(status: status, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }
}

/// Decodes JSON that was scanned before, with errors that name the field and what was expected, and never a value.
public enum JSONFields {
    /// Decodes `type`. With `known`, a field that is not in it is refused: a typing error must not silently change what a
    /// request does. Throws `malformed-json` and `invalid-field`.
    public static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], known: Set<String>? = nil, depthLimit: Int = JSONLimits().depth
    ) throws(ServiceError) -> Value {
        _ = try JSONScanner.scan(bytes, depthLimit: depthLimit, known: known)
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw ServiceError(.invalidField, sentence(for: error, in: bytes))
        } catch {
            throw ServiceError(.malformedJSON)
        }
    }

    private static func sentence(for error: DecodingError, in bytes: [UInt8]) -> String {
        switch error {
        case .typeMismatch(let type, let context): "\(place(context.codingPath)): expected \(words(for: type))"
        case .valueNotFound(let type, let context): "\(place(context.codingPath)): expected \(words(for: type)), not null"
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        // Foundation names no field for a number that does not fit the type.
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            JSONFraction.path(in: bytes).map { "\(place($0)): expected a whole number" }
                ?? "a number is not whole or out of range, or a value is not one of those allowed"
        case .dataCorrupted(let context): "\(place(context.codingPath)): \(reason(context.debugDescription))"
        @unknown default: "a field has a value that is not allowed"
        }
    }

    static func place(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        return place(text)
    }

    /// How an error names the field at a path of the outline.
    static func place(_ path: String) -> String { path.isEmpty ? "the body" : "field '\(shown(path))'" }

    /// Our own types describe their rule in a sentence that starts small and holds no value. Foundation's sentences start with a
    /// capital and quote the value, so they are replaced.
    private static func reason(_ description: String) -> String {
        description.first?.isLowercase == true ? description : "the value is not one of those allowed"
    }

    private static func words(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type: "a list"
        case is [String: Any].Type: "an object"
        default: "a value of another kind"
        }
    }

    /// A field name as it may be shown: printable ASCII, at most 64 characters.
    static func shown(_ name: String) -> String {
        String(name.unicodeScalars.prefix(64).map { (0x20..<0x7F).contains($0.value) && $0 != "'" ? Character($0) : "?" })
    }
}

/// Finds the number of a JSON text that is not whole or does not fit 64 bits. No field of the interfaces takes such a number.
private struct JSONFraction: Decodable {
    /// Leads to the first one; absent when there is none.
    private let path: [any CodingKey]?

    /// The path to such a number in a text that was scanned before.
    static func path(in bytes: [UInt8]) -> [any CodingKey]? {
        (try? JSONDecoder().decode(JSONFraction.self, from: Data(bytes)))?.path
    }

    init(from decoder: any Decoder) throws {
        path = try Self.fraction(in: decoder)
    }

    private static func fraction(in decoder: any Decoder) throws -> [any CodingKey]? {
        if let object = try? decoder.container(keyedBy: Key.self) {
            for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                if let found = try object.decode(JSONFraction.self, forKey: key).path { return found }
            }
            return nil
        }
        if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd {
                if let found = try list.decode(JSONFraction.self).path { return found }
            }
            return nil
        }
        let value = try decoder.singleValueContainer()
        guard (try? value.decode(Int64.self)) == nil, (try? value.decode(Double.self)) != nil else { return nil }
        return decoder.codingPath
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// Reads JSON once before any decoder sees it, and refuses what decoders disagree about or break on: nesting beyond the limit, a name
/// twice in one object, half surrogates, `NaN`, anything after the value.
///
/// Names that occur twice are refused rather than tolerated, because the value that was checked and the value that is used
/// could be two. Errors name the byte, never what stands there.
public struct JSONScanner {
    /// How the complaint ends about what many readers take: they use one of the two.
    package static let sameNameTwice = "an object has the same name twice"

    private var cursor: JSONCursor
    private var known: Set<String>?
    /// The names on the way to the value that is read.
    private var path: [String] = []

    private init(_ cursor: JSONCursor, known: Set<String>?) {
        self.cursor = cursor
        self.known = known
    }

    /// Checks `bytes` and says what kind of value they are. With `known`, the first field whose path is not among them ends the reading: paths are kept only as far as
    /// the caller knows them, else a small body with one long name around many short ones would fill the memory. `.*` stands for the
    /// names of a map, and `.**` for all that is in a field.
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
            let outer = known
            if try checkField() { known = nil }
            _ = try value()
            known = outer
            path.removeLast()
        }
    }

    /// Whether all within the field is allowed.
    private func checkField() throws(JSONFault) -> Bool {
        guard let known else { return false }
        let field = path.joined(separator: ".")
        // A map has names that no list can have.
        let isOfMap = { known.contains(self.path.dropLast().joined(separator: ".") + ".*") }
        guard known.contains(field) || isOfMap() else {
            throw cursor.fault(.rule("field '\(JSONFields.shown(field))' is not known"))
        }
        return known.contains(field + ".**")
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
