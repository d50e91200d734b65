/// A request that has no end yet. Small, because most streams are answered by one short frame; what the others need besides
/// is kept apart.
struct HTTP2Stream<Ticket> {
    let id: UInt32
    let ticket: Ticket
    /// How many body bytes the peer still takes on this stream; may be negative (RFC 9113, 6.9.2).
    var window: Int
    private var details: HTTP2StreamDetails?

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
    var maximumBody: Int { details?.response == nil ? APNsAnswerJSON.maximumBody : APNsResponse.maximumBody }

    /// What of the body has not been written, when the windows did not allow all of it.
    var unsent: ArraySlice<UInt8>? {
        get { details?.unsent }
        set { if details != nil || newValue != nil { existingDetails().unsent = newValue } }
    }

    /// Flow-controlled bytes received on this stream.
    var received: Int {
        get { details?.received ?? 0 }
        set { existingDetails().received = newValue }
    }

    var head: APNsAnswerHead? {
        get { details?.head }
        set { existingDetails().head = newValue }
    }

    var body: [UInt8] {
        get { details?.body ?? [] }
        set { existingDetails().body = newValue }
    }

    /// Where the whole answer goes, when the request is no device push.
    var response: APNsResponse? {
        get { details?.response }
        set { existingDetails().response = newValue }
    }

    private mutating func existingDetails() -> HTTP2StreamDetails {
        if let details { return details }
        let details = HTTP2StreamDetails()
        self.details = details
        return details
    }
}

/// What only a few streams need. A stream is moved and never forked, so sharing does no harm.
private final class HTTP2StreamDetails {
    var unsent: ArraySlice<UInt8>?
    var received = 0
    var head: APNsAnswerHead?
    var body: [UInt8] = []
    var response: APNsResponse?
}
