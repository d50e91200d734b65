/// The JSON body of `POST /api/v1/schedules` and of `PUT /api/v1/schedules/{id}`: what is to be sent, and when.
public struct ScheduleRequest: Hashable, Sendable, Codable {
    /// What is sent. The audience is looked up when it is due. Kind `sealed` cannot be scheduled, since its number is not known yet.
    public var notification: SendRequest
    /// When it is due, in milliseconds since 1970. Either this or `localTime`.
    public var sendAt: Timestamp?
    /// When it is due by the clocks of a time zone, for example `2026-12-24T18:00`. With `repeat` it is the first date and the time of day.
    public var localTime: String?
    /// The zone of `localTime`, by its name in the tz database, for example `Europe/Berlin`; or `device`: each device gets it when its own
    /// clock shows the time.
    public var timeZone: String?
    /// With `device`: the zone of devices that do not report theirs. Absent means `UTC`.
    public var fallbackTimeZone: String?
    /// A recurrence rule of RFC 5545 without times, for example `FREQ=WEEKLY;BYDAY=MO,FR`.
    public var recurrence: String?
    /// Dates that the rule leaves out, for example `2026-12-25`.
    public var except: [String]?
    /// For how long after the moment at which it is due each send may be read and is worth a push, in seconds.
    public var expiresAfterSeconds: Int?
    /// Whether another person has to approve it first. Then it may have no time: it is due when it is approved.
    public var approval: Bool?

    /// Creates a request that is due at a moment.
    public init(_ notification: SendRequest, at sendAt: Timestamp? = nil) {
        self.notification = notification
        self.sendAt = sendAt
    }

    private enum CodingKeys: String, CodingKey {
        case notification, sendAt, localTime, timeZone, fallbackTimeZone, recurrence = "repeat", except, expiresAfterSeconds,
            approval
    }
}

/// A send that was scheduled, as its sender and administrators see it.
public struct ScheduleStatus: Hashable, Sendable, Codable {
    public var id: Int64
    /// Counts its changes; an approval names the one that was looked at.
    public var revision: Int64
    /// `proposed` until another person approves it, `waiting`, `ended`, `cancelled`, or `failed`: then `fault` says why it will not be sent.
    public var state: String
    /// The name of the user whose send it is.
    public var sender: String
    /// Who approved it, if that was needed.
    public var approvedBy: String?
    public var createdAt: Timestamp
    /// What was asked for.
    public var request: ScheduleRequest
    /// The next moments at which it is due, at most five; empty once it is over. With the time zone `device`, the moments at which it is
    /// due in the first zone, UTC+14.
    public var next: [Timestamp]
    /// With the time zone `device`: the same by the clocks of the devices, for example `2027-01-04T09:00`.
    public var nextLocal: [String]?
    /// How many sends came of it.
    public var sent: Int
    /// How many times it was due and nothing was sent, because the server did not run before the next one was due or the send had expired.
    public var missed: Int
    /// The number of the latest send.
    public var lastSend: RichID?
    /// Why the latest attempt failed; absent after a send.
    public var fault: String?

    /// Creates a status.
    public init(
        id: Int64, revision: Int64 = 1, state: String, sender: String, createdAt: Timestamp, request: ScheduleRequest,
        next: [Timestamp], sent: Int,
        missed: Int, lastSend: RichID?, fault: String?
    ) {
        self.id = id
        self.revision = revision
        self.state = state
        self.sender = sender
        self.createdAt = createdAt
        self.request = request
        self.next = next
        self.sent = sent
        self.missed = missed
        self.lastSend = lastSend
        self.fault = fault
    }
}

/// A page of scheduled sends, newest first.
public struct ScheduleList: Hashable, Sendable, Codable {
    public var schedules: [ScheduleStatus]
    /// Pass it as `before` to read on; absent on the last page.
    public var next: String?

    /// Creates a page.
    public init(schedules: [ScheduleStatus], next: String? = nil) {
        self.schedules = schedules
        self.next = next
    }
}
