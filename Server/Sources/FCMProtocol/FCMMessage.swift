import RichPushModel
import WireText

/// A message for many devices: its text was checked once (Reference/FCM.md#2), and each device's target is put into it.
///
/// A device token that is a Firebase Installation ID names the device by `fid`: one with the prefix `fid:`, or with the form of such an id,
/// 22 letters of the URL-safe alphabet of which the first is `c`, `d`, `e` or `f`. Every other one is a registration token.
public struct FCMMessage: Sendable {
    /// The most bytes of keys, values and notification for a device (Reference/FCM.md#2-3).
    public static let largestPayload = 4_096
    /// The longest life of a message, in seconds: four weeks.
    public static let longestLife: Int64 = 2_419_200

    /// The text up to the brace behind which the target goes, and what follows the target.
    private let head: [UInt8]
    private let tail: [UInt8]

    /// Checks a body.
    ///
    /// - Throws: which member breaks which rule, and at which byte.
    public init(_ body: [UInt8]) throws(FCMMessageFault) {
        var reader = try FCMBodyReader(body)
        let shape = try reader.messageShape()
        head = Array(body[..<shape.opening])
        tail = (shape.isEmpty ? [] : [UInt8(ascii: ",")]) + body[shape.opening...]
    }

    /// The body for one device. `handle` is the device token as the hub keeps it.
    public func body(for handle: ArraySlice<UInt8>) -> [UInt8] {
        let fid = Self.fid(in: handle)
        var body: [UInt8] = []
        body.reserveCapacity(head.count + handle.count + tail.count + 12)
        body += head
        body += (fid == nil ? "\"token\":" : "\"fid\":").utf8
        JSONText.append(string: String(decoding: fid ?? handle, as: UTF8.self), to: &body)
        body += tail
        return body
    }

    private static func fid(in handle: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if handle.starts(with: "fid:".utf8) { return handle.dropFirst(4) }
        guard handle.count == 22, let first = handle.first, (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(first),
            handle.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        return handle
    }
}

/// Why a body is not a message for FCM.
public struct FCMMessageFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the member, such as `message.data.from`; empty for the body as a whole.
    public let path: String
    /// What is wrong with it, as the end of a sentence.
    public let words: String
    /// The byte at which that was noticed, from 1; absent where it is no single place in the text that came.
    public internal(set) var byte: Int?
    /// Whether FCM would refuse the message for its size alone.
    public internal(set) var isTooLarge = false

    public var description: String {
        (path.isEmpty ? "the body" : path) + " \(words)" + (byte.map { " (at byte \($0))" } ?? "")
    }
}

/// Reads a body once, member by member, and says which rule it breaks and where.
struct FCMBodyReader {
    /// What has to be known of a message.
    struct MessageShape {
        /// The byte behind the brace of `message`.
        var opening = 0
        var isEmpty = true
        fileprivate var data: Int?
        fileprivate var androidData: Int?
        /// The bytes of the notification's texts by their names. Android's own take the place of those for all platforms.
        fileprivate var notification: [String: Int] = [:]

        /// What is surely part of the payload; Google may count more.
        fileprivate var payload: Int { (androidData ?? data ?? 0) + notification.reduce(0) { $0 + $1.key.utf8.count + $1.value } }
    }

    static let target = "names a target; the hub chooses the devices"
    private static let notJSON = "is not one JSON object in UTF-8"
    private(set) var cursor: JSONCursor

    init(_ body: [UInt8]) throws(FCMMessageFault) {
        do throws(JSONFault) {
            cursor = try JSONCursor(validating: body, depthLimit: 128)
        } catch {
            throw FCMMessageFault(path: "", words: Self.notJSON, byte: error.start + 1)
        }
        cursor.skipBlanks()
        guard cursor.kind == .object else { throw fault(Self.notJSON, "") }
    }

    /// Reads a body of FCM HTTP v1.
    mutating func messageShape() throws(FCMMessageFault) -> MessageShape {
        var shape: MessageShape?
        try whole { reader, name throws(FCMMessageFault) in
            switch name {
            case "message": shape = try reader.message()
            case "validate_only", "validateOnly": try reader.check(.boolean, "true or false", name)
            default: throw reader.fault("is no member that FCM knows", name)
            }
        }
        guard let shape else { throw fault("is missing", "message") }
        guard shape.payload <= FCMMessage.largestPayload else {
            throw FCMMessageFault(
                path: "message",
                words: "has \(shape.payload) bytes of data and notification, more than \(FCMMessage.largestPayload)",
                isTooLarge: true)
        }
        return shape
    }

    private mutating func message() throws(FCMMessageFault) -> MessageShape {
        var shape = MessageShape(opening: cursor.position + 1)
        try members(of: "message") { reader, name throws(FCMMessageFault) in
            let path = "message.\(name)"
            shape.isEmpty = false
            guard !["token", "fid", "topic", "condition"].contains(name) else { throw reader.fault(Self.target, path) }
            switch name {
            // Absent, in Proto-JSON.
            case _ where reader.cursor.kind == .null: try reader.skip()
            case "data": shape.data = try reader.data(path)
            case "notification": shape.notification.merge(try reader.texts(path)) { androids, _ in androids }
            case "android": try reader.android(path, &shape)
            default: try reader.skip()
            }
        }
        return shape
    }

    private mutating func android(_ path: String, _ shape: inout MessageShape) throws(FCMMessageFault) {
        try members(of: path) { reader, name throws(FCMMessageFault) in
            let path = "\(path).\(name)"
            switch name {
            case _ where reader.cursor.kind == .null: try reader.skip()
            case "data": shape.androidData = try reader.data(path)
            case "notification": shape.notification.merge(try reader.texts(path)) { _, androids in androids }
            case "ttl": try reader.life(path)
            default: try reader.skip()
            }
        }
    }

    /// Reads pairs of texts and returns their bytes (Reference/FCM.md#2-2).
    private mutating func data(_ path: String) throws(FCMMessageFault) -> Int {
        var count = 0
        try members(of: path) { reader, name throws(FCMMessageFault) in
            let isReserved = name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm")
            guard !isReserved else { throw reader.fault("is a name that FCM reserves", "\(path).\(name)") }
            count += name.utf8.count + (try reader.text("\(path).\(name)")).utf8.count
        }
        return count
    }

    private mutating func texts(_ path: String) throws(FCMMessageFault) -> [String: Int] {
        var texts: [String: Int] = [:]
        try members(of: path) { reader, name throws(FCMMessageFault) in
            if reader.cursor.kind == .string { texts[name] = try reader.text(name).utf8.count } else { try reader.skip() }
        }
        return texts
    }

    /// A duration of Proto-JSON, such as `3.5s`.
    private mutating func life(_ path: String) throws(FCMMessageFault) {
        let text = try text(path)
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard text.last == "s", (1...2).contains(parts.count), (1...7).contains(parts[0].utf8.count),
            parts.count == 1 || (1...9).contains(parts[1].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy(\.isASCIIDigit) }), let seconds = Int64(parts[0]),
            seconds < FCMMessage.longestLife || seconds == FCMMessage.longestLife && (parts.count == 1 || Int(parts[1]) == 0)
        else { throw fault("is not a duration such as \"3600s\", from 0s to \(FCMMessage.longestLife)s", path) }
    }

    /// Passes each member of the body on; nothing may follow the body.
    mutating func whole(_ member: (inout Self, String) throws(FCMMessageFault) -> Void) throws(FCMMessageFault) {
        try members(of: "", member)
        try json { cursor throws(JSONFault) in try cursor.end() }
    }

    /// Passes each member of the object that begins here on. The cursor is at its value, and `member` has to move it behind that.
    mutating func members(
        of path: String, _ member: (inout Self, String) throws(FCMMessageFault) -> Void
    ) throws(FCMMessageFault) {
        guard cursor.kind == .object else { throw fault("is not an object", path) }
        var isFirst = true
        var seen: Set<String> = []
        while let name = try json({ cursor throws(JSONFault) in try cursor.nextName(&isFirst) }) {
            guard seen.insert(name).inserted else { throw fault("occurs twice", path.isEmpty ? name : "\(path).\(name)") }
            try member(&self, name)
        }
    }

    mutating func text(_ path: String) throws(FCMMessageFault) -> String {
        guard cursor.kind == .string else { throw fault("is not a text in quotes", path) }
        return try json { cursor throws(JSONFault) in try cursor.string() }
    }

    /// Reads a value of this kind and returns its text as it came.
    @discardableResult
    mutating func check(_ kind: JSONKind?, _ words: String, _ path: String) throws(FCMMessageFault) -> String {
        guard cursor.kind == kind else { throw fault("is not \(words)", path) }
        let start = cursor.position
        try skip()
        return cursor.text(start..<cursor.position)
    }

    mutating func skip() throws(FCMMessageFault) { try json { cursor throws(JSONFault) in try cursor.skipValue() } }

    mutating func json<Value>(_ work: (inout JSONCursor) throws(JSONFault) -> Value) throws(FCMMessageFault) -> Value {
        do throws(JSONFault) {
            return try work(&cursor)
        } catch {
            throw FCMMessageFault(path: "", words: Self.notJSON, byte: error.start + 1)
        }
    }

    /// A fault at this place. Of a long path the beginning is shown.
    func fault(_ words: String, _ path: String) -> FCMMessageFault {
        FCMMessageFault(path: String(path.prefix(120)), words: words, byte: cursor.position + 1)
    }
}
