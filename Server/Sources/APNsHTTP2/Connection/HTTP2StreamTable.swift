/// The open streams of a connection in a ring, found by their id without hashing.
///
/// A client's ids are odd and rising, so `id >> 1` counts requests. When the ring comes round to a stream that is still
/// open, that id is skipped, which HTTP/2 allows (RFC 9113, 5.1.1).
struct HTTP2StreamTable<Ticket> {
    private var slots: [HTTP2Stream<Ticket>?]
    private var mask: Int
    private(set) var count = 0
    /// The id that the next stream gets, unless its slot is taken.
    private(set) var nextID: UInt32 = 1

    /// The highest id that is ever used; one short of the end, so that `nextID` never overflows.
    static var lastID: UInt32 { 0x7FFF_FFFD }

    init() {
        slots = Array(repeating: nil, count: 16)
        mask = 15
    }

    var isExhausted: Bool { nextID > Self.lastID }

    /// Takes the next free id; `nil` when the ids have run out.
    mutating func reserveID() -> UInt32? {
        if count * 2 >= slots.count { grow() }
        while !isExhausted {
            let id = nextID
            nextID += 2
            if slots[Int(id >> 1) & mask] == nil { return id }
        }
        return nil
    }

    /// Puts a stream under an id from `reserveID`.
    mutating func insert(_ stream: HTTP2Stream<Ticket>) {
        slots[Int(stream.id >> 1) & mask] = stream
        count += 1
    }

    /// Whether the stream is open and has no details.
    @inline(__always)
    func isPlain(_ id: UInt32) -> Bool {
        guard let stream = slots[Int(id >> 1) & mask] else { return false }
        return stream.id == id && stream.isPlain
    }

    /// Ends a stream.
    mutating func remove(_ id: UInt32) -> HTTP2Stream<Ticket>? {
        let index = Int(id >> 1) & mask
        guard slots[index]?.id == id else { return nil }
        count -= 1
        return slots[index].take()
    }

    /// Changes a stream in place; `nil` when it is not open.
    mutating func update<Result>(_ id: UInt32, _ body: (inout HTTP2Stream<Ticket>) -> Result) -> Result? {
        let index = Int(id >> 1) & mask
        guard slots[index]?.id == id, var stream = slots[index].take() else { return nil }
        defer { slots[index] = stream }
        return body(&stream)
    }

    /// Ends all streams that satisfy the condition; in the order in which they were opened.
    mutating func removeAll(where condition: (HTTP2Stream<Ticket>) -> Bool) -> [HTTP2Stream<Ticket>] {
        guard count > 0 else { return [] }
        var removed: [HTTP2Stream<Ticket>] = []
        for index in slots.indices {
            guard let stream = slots[index], condition(stream) else { continue }
            removed.append(stream)
            slots[index] = nil
        }
        count -= removed.count
        return removed.sorted { $0.id < $1.id }
    }

    func forEach(_ body: (HTTP2Stream<Ticket>) -> Void) {
        guard count > 0 else { return }
        for case let stream? in slots { body(stream) }
    }

    /// Changes all streams.
    mutating func updateAll(_ body: (inout HTTP2Stream<Ticket>) -> Void) {
        for index in slots.indices where slots[index] != nil {
            if var stream = slots[index] {
                body(&stream)
                slots[index] = stream
            }
        }
    }

    private mutating func grow() {
        var larger: [HTTP2Stream<Ticket>?] = Array(repeating: nil, count: slots.count * 2)
        mask = larger.count - 1
        // Ids that did not collide in the smaller ring do not collide in the larger one.
        for case let stream? in slots { larger[Int(stream.id >> 1) & mask] = stream }
        slots = larger
    }
}

/// A request that has no end yet. Small, because most streams are answered by one short frame; what the others need besides
/// is kept apart.
struct HTTP2Stream<Ticket> {
    let id: UInt32
    let ticket: Ticket
    /// How many body bytes the peer still takes on this stream; may be negative (RFC 9113, 6.9.2).
    var window: Int
    private(set) var details: HTTP2StreamDetails?

    init(id: UInt32, ticket: Ticket, window: Int, unsent: ArraySlice<UInt8>? = nil) {
        self.id = id
        self.ticket = ticket
        self.window = window
        if unsent != nil { self.unsent = unsent }
    }

    /// Whether the request is completely written, nothing of an answer has come, and the answer's body is of no interest: then one
    /// HEADERS frame can be the whole answer.
    var isPlain: Bool { details == nil }

    /// More of a body is not kept.
    var maximumBody: Int { details?.response?.maximumBody ?? APNsAnswerJSON.maximumBody }

    /// What of the body has not been written, when the windows did not allow all of it.
    var unsent: ArraySlice<UInt8>? {
        get { details?.unsent }
        set { if details != nil || newValue != nil { existingDetails().unsent = newValue } }
    }

    /// What of the answer's body is kept.
    var body: [UInt8] { details?.body ?? [] }

    mutating func existingDetails() -> HTTP2StreamDetails {
        if let details { return details }
        let details = HTTP2StreamDetails()
        self.details = details
        return details
    }
}

/// What only a few streams need. A stream is moved and never forked, so sharing does no harm.
final class HTTP2StreamDetails {
    var unsent: ArraySlice<UInt8>?
    /// Flow-controlled bytes received on this stream.
    var received = 0
    var head: APNsAnswerHead?
    var body: [UInt8] = []
    /// Where the whole answer goes, when the request is no device push.
    var response: HTTP2Response?
}
