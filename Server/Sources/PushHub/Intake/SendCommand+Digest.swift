import Crypto
import RichPushModel

extension SendCommand {
    /// A digest of all that the command says, the idempotency key aside: a key stands for one content only.
    public var digest: [UInt8] {
        var hash = SHA256()
        var words: [String?] = [
            message.pushType, message.priority.map(String.init), message.collapseID,
            message.expiresAt.map { String($0.milliseconds) }, message.topic, audience?.description,
            dueAt.map { String($0.milliseconds) },
        ]
        // Only if given, so that the digests of sends without it stay what they were before there was such a field.
        if let pushesPerSecond { words.append("pace \(pushesPerSecond)") }
        if format != .native(.apns) { words.append("format \(format.text)") }
        if let handles = recipients.handles { words.append("handles \(handles.map(\.text).joined(separator: " "))") }
        for field in [Array(message.body)] + words.map({ $0.map { Array("=\($0)".utf8) } ?? [] }) {
            hash.update(data: Array("\(field.count):".utf8))
            hash.update(data: field)
        }
        return Array(hash.finalize())
    }
}
