import RichPushModel

/// A moment as RFC 3339 writes it, in UTC and with three fraction digits: `2026-03-01T10:00:00.000Z`.
///
/// Read more widely: seconds, fraction and zone may be missing (then UTC), the zone may lack its colon, the `T` may stand in
/// quotes or be a blank (Reference/AzureNotificationHubs.md#2-8 and #5-1).
public struct WireTime: Hashable, Sendable, CustomStringConvertible {
    public let moment: Timestamp

    /// The end of time: what "does not expire" is on the wire (Reference/AzureNotificationHubs.md#0-5).
    public static let never = WireTime(Timestamp(milliseconds: 253_402_300_799_999))

    private static let earliest = Timestamp(milliseconds: -62_135_596_800_000)

    /// Creates a time; moments outside the years 1 to 9999 are clamped.
    public init(_ moment: Timestamp) {
        self.moment = min(max(moment, Self.earliest), Timestamp(milliseconds: 253_402_300_799_999))
    }

    /// Reads any of the spellings above; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        var scanner = TimeScanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), let date = CivilDate(year: year, month: month, day: day), scanner.skipDateSeparator(),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60
        else { return nil }
        var milliseconds = 0
        if scanner.skip(":") {
            guard let second = scanner.digits(2), second < 60, let fraction = scanner.fraction() else { return nil }
            milliseconds = second * 1000 + fraction
        }
        guard let zone = scanner.zone(), scanner.isAtEnd else { return nil }
        milliseconds += (hour * 60 + minute - zone) * 60_000
        self.init(Timestamp(milliseconds: Int64(date.daysSince1970) * 86_400_000 + Int64(milliseconds)))
    }

    public var description: String {
        text(hasFraction: true)
    }

    /// The moment to the second, `2026-03-01T10:00:00Z`.
    public var seconds: String { text(hasFraction: false) }

    /// Digit by digit: an answer has several of them.
    private func text(hasFraction: Bool) -> String {
        let milliseconds = moment.milliseconds
        let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
        let rest = Int(milliseconds - days * 86_400_000)
        let date = CivilDate(daysSince1970: Int(days))
        return String(unsafeUninitializedCapacity: 24) { bytes in
            var end = 0
            func put(_ number: Int, _ width: Int, then mark: Unicode.Scalar) {
                var left = number
                for place in (end..<end + width).reversed() {
                    bytes[place] = UInt8(ascii: "0") + UInt8(left % 10)
                    left /= 10
                }
                bytes[end + width] = UInt8(ascii: mark)
                end += width + 1
            }
            put(date.year, 4, then: "-")
            put(date.month, 2, then: "-")
            put(date.day, 2, then: "T")
            put(rest / 3_600_000, 2, then: ":")
            put(rest / 60_000 % 60, 2, then: ":")
            put(rest / 1000 % 60, 2, then: hasFraction ? "." : "Z")
            if hasFraction { put(rest % 1000, 3, then: "Z") }
            return end
        }
    }
}
