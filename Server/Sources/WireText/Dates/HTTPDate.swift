import RichPushModel

/// A date of HTTP in the one form that servers may send: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
public enum HTTPDate {
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The moment in a text, from 1970 on; `nil` when it is in another form. The name of the day is not looked at.
    public static func moment(_ text: String) -> Timestamp? {
        guard text.utf8.count == 29, text.hasSuffix(" GMT") else { return nil }
        var scanner = TimeScanner(text.dropFirst(3))
        guard scanner.skip(","), scanner.skip(" "), let day = scanner.digits(2), scanner.skip(" "),
            let month = months.firstIndex(where: { scanner.skip(word: $0) }), scanner.skip(" "), let year = scanner.digits(4),
            year >= 1970, let date = CivilDate(year: year, month: month + 1, day: day), scanner.skip(" "),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60,
            scanner.skip(":"), let second = scanner.digits(2), second <= 60
        else { return nil }
        return Timestamp(seconds: Int64(date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second))
    }

    /// The text of a moment.
    public static func text(_ moment: Timestamp) -> String {
        let time = WireTime(moment)
        let parts = time.seconds.dropLast().split { $0 == "-" || $0 == "T" }
        guard parts.count == 4, let month = Int(parts[1]) else { return time.description }
        let seconds = time.moment.seconds
        let days = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
        return "\(weekdays[((days + 4) % 7 + 7) % 7]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) GMT"
    }
}
