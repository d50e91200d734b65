import HTTPTypes
import HubProtocol
import Hummingbird
import NIOCore

/// The answers of the hub protocol: the status that an operation's clients insist on, and a body of one of three types.
enum HubAnswer {
    static let entry = "application/atom+xml; type=entry; charset=utf-8"
    static let feed = "application/atom+xml; type=feed; charset=utf-8"
    static let xml = "application/xml; charset=utf-8"
    static let json = "application/json; charset=utf-8"
    static let text = "text/plain; charset=utf-8"

    /// An answer without a body.
    static func empty(_ operation: HubOperation, headers: HTTPFields = [:]) -> Response {
        Response(status: .init(code: operation.successStatus), headers: headers)
    }

    /// An answer with a body.
    static func body(_ text: String, as mediaType: String, _ operation: HubOperation, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = mediaType
        return Response(
            status: .init(code: operation.successStatus), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
