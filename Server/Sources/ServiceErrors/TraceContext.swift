/// Where a request belongs in a trace of its caller (W3C Trace Context, level 1, https://www.w3.org/TR/trace-context-1/).
///
/// It is taken as it comes, logged, and passed on to what the server calls for the request. The server records no spans and begins no trace
/// of its own.
public struct TraceContext: Hashable, Sendable {
    /// The trace of the request that this task answers; `nil` where the caller named none.
    @TaskLocal public static var current: TraceContext?

    /// The longest `tracestate` that is passed on, in characters; a longer one is dropped (3.3.1.5).
    private static let longestState = 512

    /// 32 lower-case hexadecimal digits, not all 0.
    public let traceID: String
    private let isSampled: Bool
    private let state: String?

    /// Reads the values of the fields `traceparent` and `tracestate`; `nil` unless there is one valid `traceparent`.
    public init?(parents: [String], states: [String] = []) {
        guard parents.count == 1, let parent = parents.first else { return nil }
        let parts = parent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isHex(parts[0], 2), parts[0] != "ff", Self.isID(parts[1], 32), Self.isID(parts[2], 16),
            Self.isHex(parts[3], 2), let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        // Version 00 ends here; a later one may say more (4.3).
        guard parts.count == 4 || parts[0] != "00" else { return nil }
        traceID = String(parts[1])
        isSampled = flags & 1 == 1
        let state = states.filter { !$0.isEmpty }.joined(separator: ",")
        let isPrintable = state.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
        self.state = state.isEmpty || state.utf8.count > Self.longestState || !isPrintable ? nil : state
    }

    /// The fields for a request to another server: the same trace with a new parent. Empty outside of a trace.
    public static var outgoingFields: [(name: String, value: String)] {
        guard let current else { return [] }
        let number = String(UInt64.random(in: 1 ... .max), radix: 16)
        let parent = String(repeating: "0", count: 16 - number.count) + number
        let fields = [(name: "traceparent", value: "00-\(current.traceID)-\(parent)-\(current.isSampled ? "01" : "00")")]
        return fields + (current.state.map { [(name: "tracestate", value: $0)] } ?? [])
    }

    private static func isID(_ text: Substring, _ count: Int) -> Bool { isHex(text, count) && text.contains { $0 != "0" } }

    private static func isHex(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
