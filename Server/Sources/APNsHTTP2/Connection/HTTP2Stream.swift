/// A request that has no end yet.
struct HTTP2Stream<Ticket> {
    let id: UInt32
    let ticket: Ticket
    /// How many body bytes the peer still takes on this stream; may be negative (RFC 9113, 6.9.2).
    var window: Int
    /// What of the body has not been written, when the windows did not allow all of it.
    var unsent: ArraySlice<UInt8>?
    /// Flow-controlled bytes received on this stream.
    var received = 0
    var head: APNsAnswerHead?
    var body: [UInt8] = []
    /// Where the whole answer goes, when the request is no device push.
    var response: APNsResponse?

    /// More of a body is not kept.
    var maximumBody: Int { response == nil ? APNsAnswer.maximumBody : APNsResponse.maximumBody }

    init(id: UInt32, ticket: Ticket, window: Int, unsent: ArraySlice<UInt8>? = nil) {
        self.id = id
        self.ticket = ticket
        self.window = window
        self.unsent = unsent
    }
}
