import FCMEmulation
import RichPushModel

/// What `GET /fcm/devices/{name}` answers: what the phone is now, and what happened on it.
struct FCMDeviceDocument: Encodable {
    private struct Event: Encodable {
        let kind: String
        let at: Timestamp
        var message: AndroidMessage?
        var token: String?

        init(_ record: PhoneRecord) {
            at = record.at
            switch record.event {
            case .message(let message): (kind, self.message) = ("message", message)
            case .shown(let message): (kind, self.message) = ("shown", message)
            case .opened(let message): (kind, self.message) = ("opened", message)
            case .newToken(let token): (kind, self.token) = ("newToken", token)
            case .deletedMessages: kind = "deletedMessages"
            }
        }
    }

    private enum Member: String, CodingKey { case events }

    private let status: AndroidStatus
    /// The newest ones, oldest first.
    private let events: [Event]

    init(_ status: AndroidStatus, _ records: some Sequence<PhoneRecord>) {
        (self.status, events) = (status, records.map(Event.init))
    }

    func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(events, forKey: .events)
    }
}
