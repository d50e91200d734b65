import RichPushModel

/// The three ways in which a store writes a moment.
enum S3Moment {
    /// `20130524T000000Z`, as it is signed.
    static func stamp(_ moment: Timestamp) -> String {
        let seconds = moment.seconds
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let (year, month, date) = calendar(day)
        return padded(year, 4) + padded(month, 2) + padded(date, 2) + "T" + padded(second / 3600, 2)
            + padded(second / 60 % 60, 2) + padded(second % 60, 2) + "Z"
    }

    /// `Fri, 24 May 2013 00:00:00 GMT`, as in `Last-Modified` and `Date` (RFC 9110, 5.6.7).
    static func read(header text: String) -> Timestamp? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int64(words[1]), let year = Int64(words[3]),
            let month = months.firstIndex(of: String(words[2]))
        else { return nil }
        return moment(year, Int64(month + 1), day, words[4])
    }

    /// `2013-05-24T00:00:00.000Z`, as in documents.
    static func read(document text: String) -> Timestamp? {
        let halves = text.split(separator: "T")
        guard halves.count == 2, halves[1].hasSuffix("Z") else { return nil }
        let date = halves[0].split(separator: "-").compactMap { Int64($0) }
        guard date.count == 3 else { return nil }
        return moment(date[0], date[1], date[2], halves[1].dropLast().prefix(8))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func moment(_ year: Int64, _ month: Int64, _ day: Int64, _ time: Substring) -> Timestamp? {
        let parts = time.split(separator: ":").compactMap { Int64($0) }
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day), parts.count == 3,
            (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...60).contains(parts[2])
        else { return nil }
        return Timestamp(seconds: days(year, month, day) * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2])
    }

    /// The day that is so many days after 1970-01-01, in eras of 400 years that begin in March.
    private static func calendar(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
