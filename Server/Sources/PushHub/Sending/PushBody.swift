import ServiceErrors

/// What the hub has to know of a body for APNs; the bytes themselves go out untouched.
struct PushBody: Hashable {
    /// Whether the body asks for a wake-up: `content-available` 1.
    let wakes: Bool
    /// Whether it shows, plays or counts something: an alert, a sound or a badge that is not empty. (The rich push tutorial's own
    /// body carries `"sound":""`.)
    let isPerceptible: Bool

    /// Whether it has an alert that is not empty.
    let alerts: Bool

    /// Whether it is a background push.
    var isSilent: Bool { wakes && !isPerceptible }

    /// Reads a body. Throws `malformed-json` with the place unless it is one JSON object in UTF-8 with at most one `aps`, which is
    /// an object.
    init(_ bytes: [UInt8]) throws(ServiceError) {
        let aps = try PushBodyReader.aps(in: bytes) ?? [:]
        wakes = aps["content-available"] == .one
        alerts = Self.isFilled(aps["alert"])
        isPerceptible = alerts || Self.isFilled(aps["sound"]) || Self.isFilled(aps["badge"])
    }

    private static func isFilled(_ value: PushBodyReader.Value?) -> Bool {
        switch value {
        case nil, .null, .text(isEmpty: true), .object(isEmpty: true): false
        case .text, .object, .one, .other: true
        }
    }
}
