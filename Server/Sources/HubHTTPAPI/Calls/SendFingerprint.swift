import Crypto
import HubProtocol
import RichPushModel
import WireText

/// The name under which the same send, sent again by a client that heard nothing, is one send
/// (Reference/AzureNotificationHubs.md#0-17).
enum SendFingerprint {
    /// The client's own word for the request together with what it asks for: the same word with another content is another
    /// send. Without a word it is a random name, which tells this server alone what became of the commit; a test send then has none.
    ///
    /// Headers count as they came: what a date on a 12-hour clock means depends on the moment at which it is read.
    static func key(of call: HubCall, _ headers: SendHeaders, _ body: [UInt8], _ handles: [String]?) -> String? {
        let isTest = call.route.operation == .send && call.query.isTest
        guard let request = headers.requestID else { return isTest ? nil : "hub:" + RegistrationName.random() }
        var hash = SHA256()
        let words = [request, call.route.operation.rawValue] + said(in: call.headers) + (handles ?? [])
        for field in words.map({ Array($0.utf8) }) + [body] {
            hash.update(data: Array("\(field.count):".utf8))
            hash.update(data: field)
        }
        return (isTest ? "test:" : "hub:") + Hexadecimal.text(of: hash.finalize())
    }

    /// The headers that say what is to be sent, without those of the transport, which may differ in a repeat.
    private static func said(in headers: HeaderList) -> [String] {
        headers.fields
            .map { HeaderField($0.name.lowercased(), $0.value) }
            .filter { field in prefixes.contains { field.name.hasPrefix($0) } }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .flatMap { [$0.name, $0.value] }
    }

    private static let prefixes = ["servicebusnotification-", "apns-", "x-apns-", "x-wns-", "x-windowsphone-", "x-mpns-"]
}
