import RichPushModel

/// The `date` of an answer (RFC 9110, 5.6.7), in the one form that servers may send: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let months = Array("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)

    static func parse(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        guard text.count == 29, let day = number(text, 5..<7), let month = month(text), let year = number(text, 12..<16),
            let hour = number(text, 17..<19), let minute = number(text, 20..<22), let second = number(text, 23..<25),
            (1...31).contains(day), hour < 24, minute < 60, second <= 60, year >= 1970
        else { return nil }
        return Timestamp(seconds: Int64(days(year, month, day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second))
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        var value = 0
        for index in range {
            guard text[index] &- 0x30 < 10 else { return nil }
            value = value * 10 + Int(text[index] - 0x30)
        }
        return value
    }

    private static func month(_ text: UnsafeRawBufferPointer) -> Int? {
        (0..<12).first { month in (0..<3).allSatisfy { months[month * 3 + $0] == text[8 + $0] } }.map { $0 + 1 }
    }

    /// Days from 1970 to a date of the Gregorian calendar, with years that begin in March, so that leap days come last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    }
}
