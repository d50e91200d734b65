import RichPushModel
import WireText

/// The value of `ServiceBusNotification-Apns-Expiry`: ISO 8601, or `MM/dd/yyyy HH:mm:ss` in UTC
/// (Reference/AzureNotificationHubs.md#2-7).
///
/// One client writes the second form on a 12-hour clock without saying which half of the day it means: 14:45 arrives as 02:45
/// and may lie in the past. Nobody sends what has expired already, so such a value in the past is read twelve hours later if
/// that lies ahead. Another client writes a true 24-hour clock and says who it is; its values are taken as they are.
struct LegacyExpiry: Hashable {
    private let written: Timestamp
    private let isAmbiguous: Bool

    /// Reads either form; `nil` for anything else.
    init?(_ text: String) {
        if let time = WireTime(text) {
            written = time.moment
            isAmbiguous = false
            return
        }
        var scanner = TimeScanner(text)
        guard let month = scanner.digits(2), scanner.skip("/"), let day = scanner.digits(2), scanner.skip("/"),
            let year = scanner.digits(4), let date = CivilDate(year: year, month: month, day: day), scanner.skip(" "),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60,
            scanner.skip(":"), let second = scanner.digits(2), second < 60
        else { return nil }
        let half = scanner.halfOfDay()
        guard scanner.isAtEnd, half == nil || (1...12).contains(hour) else { return nil }
        let trueHour = half.map { $0 + hour % 12 } ?? hour
        written = Timestamp(seconds: Int64(date.daysSince1970) * 86_400 + Int64((trueHour * 60 + minute) * 60 + second))
        isAmbiguous = half == nil && (1...11).contains(hour)
    }

    /// What the value means at this moment to the client that names itself so.
    func moment(now: Timestamp, userAgent: String?) -> Timestamp {
        let later = written + .seconds(12 * 3600)
        guard isAmbiguous, written <= now, later > now, userAgent?.contains("api-origin=DotNetSdk") != true else {
            return written
        }
        return later
    }
}

extension TimeScanner {
    /// ` AM` is 0, ` PM` is 12, nothing is `nil`.
    mutating func halfOfDay() -> Int? {
        guard skip(" ") else { return nil }
        if skip("A") || skip("a") { return skip("M") || skip("m") ? 0 : nil }
        if skip("P") || skip("p") { return skip("M") || skip("m") ? 12 : nil }
        return nil
    }
}
