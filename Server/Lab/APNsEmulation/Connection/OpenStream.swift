import NIOCore
import NIOHPACK

/// A request whose answer is still owed.
struct OpenStream {
    var head = APNsRequest.Head()
    private(set) var body = ByteBuffer()
    private(set) var bodySize = 0
    /// How many body bytes the client may still send, as the HTTP/2 library counts.
    var window: Int
    /// Nothing more of the request comes.
    var isComplete = false

    init(headers: HPACKHeaders, window: Int) {
        self.window = window
        for (name, value, _) in headers { head.add(name: name, value: value) }
    }

    /// Takes in a piece of the body; what exceeds the bound is counted only.
    mutating func append(_ piece: ByteBuffer) {
        bodySize += piece.readableBytes
        let room = APNsRequest.keptBody - body.readableBytes
        guard room > 0 else { return }
        var piece = piece
        if let slice = piece.readSlice(length: min(room, piece.readableBytes)) { body.writeImmutableBuffer(slice) }
    }

    func request(connection: Int, stream: Int, service: APNsService) -> APNsRequest {
        APNsRequest(
            head: head, body: Array(body.readableBytesView), bodySize: bodySize, connection: connection, stream: stream,
            service: service)
    }
}
