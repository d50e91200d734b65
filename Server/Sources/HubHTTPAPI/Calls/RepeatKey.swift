import Crypto
import HubProtocol
import RichPushModel

/// The name under which the same send, sent again by a client that heard nothing, is one send (Azure reference 0, point 17).
enum RepeatKey {
    /// The client's own word for the request together with what it asks for: the same word with another content is another
    /// send. Without a word it is a random name, which tells this server alone what became of the commit.
    static func key(of call: HubCall, _ headers: SendHeaders, _ body: [UInt8], _ handles: [String]?) -> String {
        guard let request = headers.requestID else { return "hub:" + RegistrationName.random() }
        var hash = SHA256()
        let words = [request, call.route.operation.rawValue] + headers.fields.flatMap { [$0.name, $0.value] } + (handles ?? [])
        for field in words.map({ Array($0.utf8) }) + [body] {
            hash.update(data: Array("\(field.count):".utf8))
            hash.update(data: field)
        }
        return "hub:" + hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
