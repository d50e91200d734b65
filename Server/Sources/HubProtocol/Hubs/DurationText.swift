/// Durations as .NET writes them, `P90D`, `PT1H30M`, `P1DT0.5S`; a year is 365 days and a month 30.
enum DurationText {
    /// What .NET calls the longest duration: never (Reference/AzureNotificationHubs.md#2-1).
    static let never = "P10675199DT2H48M5.4775807S"
    private static let daysOfNever: Int64 = 10_675_199

    /// The duration in a text. `.some(nil)` is never, `nil` is no duration. Parts smaller than a second are cut off.
    static func read(_ text: String) -> Duration?? {
        guard text.hasPrefix("P"), text.utf8.count <= 64 else { return nil }
        var seconds: Int64 = 0
        var isTime = false
        var units = "YMD"[...]
        var rest = text.dropFirst()
        var parts = 0
        while let first = rest.first {
            if first == "T", !isTime {
                isTime = true
                units = "HMS"[...]
                rest = rest.dropFirst()
                continue
            }
            guard let (value, unit, after) = part(rest), let place = units.firstIndex(of: unit) else { return nil }
            units = units[units.index(after: place)...]
            guard let factor = factor(unit, isTime), let sum = sum(seconds, value, factor) else { return nil }
            seconds = sum
            rest = after
            parts += 1
        }
        guard parts > 0, !text.hasSuffix("T") else { return nil }
        return .some(seconds >= daysOfNever * 86_400 ? nil : .seconds(seconds))
    }

    /// The text of a duration, in days, hours, minutes and seconds; `nil` is never.
    static func write(_ duration: Duration?) -> String {
        guard let seconds = duration?.components.seconds, seconds < daysOfNever * 86_400 else { return never }
        guard seconds > 0 else { return "PT0S" }
        let day = seconds % 86_400
        let days = seconds >= 86_400 ? "\(seconds / 86_400)D" : ""
        let parts = [(day / 3600, "H"), (day / 60 % 60, "M"), (day % 60, "S")].filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }
        return "P" + days + (parts.isEmpty ? "" : "T" + parts.joined())
    }

    /// A number and its unit; only seconds may have a fraction.
    private static func part(_ text: Substring) -> (value: Int64, unit: Character, rest: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count <= 12, let value = Int64(digits) else { return nil }
        var rest = text[digits.endIndex...]
        if rest.first == "." {
            let fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            rest = rest[fraction.endIndex...]
            guard !fraction.isEmpty, rest.first == "S" else { return nil }
        }
        return rest.first.map { (value, $0, rest.dropFirst()) }
    }

    private static func factor(_ unit: Character, _ isTime: Bool) -> Int64? {
        switch (unit, isTime) {
        case ("Y", false): 365 * 86_400
        case ("M", false): 30 * 86_400
        case ("D", false): 86_400
        case ("H", true): 3600
        case ("M", true): 60
        case ("S", true): 1
        default: nil
        }
    }

    private static func sum(_ seconds: Int64, _ value: Int64, _ factor: Int64) -> Int64? {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        let (sum, carry) = seconds.addingReportingOverflow(product)
        return carry ? nil : sum
    }
}
