import RichPushModel

extension SettingKind where Value == Int {
    /// A whole number within bounds.
    static func integer(_ bounds: ClosedRange<Int>) -> SettingKind {
        .scalar(
            "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
            parse: { text in
                wholeNumber(text).flatMap { bounds.contains($0) ? $0 : nil }
            }, format: { "\($0)" })
    }

    /// A TCP port to listen on.
    static var listeningPort: SettingKind {
        .scalar(
            "a port from 1 to 65535, or 0 for any free one",
            parse: { text in
                wholeNumber(text).flatMap { (0...65_535).contains($0) ? $0 : nil }
            }, format: { "\($0)" })
    }

    /// A TCP port to connect to.
    static var remotePort: SettingKind {
        .scalar(
            "a port from 1 to 65535",
            parse: { text in
                wholeNumber(text).flatMap { (1...65_535).contains($0) ? $0 : nil }
            }, format: { "\($0)" })
    }
}

extension SettingKind where Value == Int64 {
    /// A size in bytes: a whole number alone or with `KB`, `MB`, `GB` (powers of 1000) or `KiB`, `MiB`, `GiB` (of 1024).
    static func size(_ bounds: ClosedRange<Int64>) -> SettingKind {
        .scalar(
            "a size from \(write(bounds.lowerBound)) to \(write(bounds.upperBound)), for example 500KB or 25MB",
            parse: { text in
                readUnit(text, units: sizeUnits).flatMap { bounds.contains($0) ? $0 : nil }
            }, format: write)
    }

    @Sendable private static func write(_ size: Int64) -> String {
        for (unit, factor) in sizeUnits.reversed() where factor > 1 && size > 0 && size.isMultiple(of: factor) {
            return "\(size / factor)\(unit)"
        }
        return "\(size)"
    }
}

extension SettingKind where Value == Duration {
    /// A time with its unit: `ms`, `s`, `m`, `h` or `d`. A bare number is refused, because readers guess its unit differently.
    static func duration(_ bounds: ClosedRange<Duration>) -> SettingKind {
        .scalar(
            "a time from \(write(bounds.lowerBound)) to \(write(bounds.upperBound)) with its unit, for example 500ms, 30s or 5m",
            parse: { text in
                readUnit(text, units: timeUnits).map { .milliseconds($0) }.flatMap { bounds.contains($0) ? $0 : nil }
            }, format: write)
    }

    @Sendable private static func write(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        for (unit, factor) in timeUnits.reversed() where milliseconds.isMultiple(of: factor) {
            return "\(milliseconds / factor)\(unit)"
        }
        return "\(milliseconds)ms"
    }
}

private let sizeUnits: [(unit: String, factor: Int64)] = [
    ("", 1), ("KB", 1000), ("KiB", 1024), ("MB", 1_000_000), ("MiB", 1_048_576), ("GB", 1_000_000_000), ("GiB", 1_073_741_824),
]

private let timeUnits: [(unit: String, factor: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
]

/// Only digits: no sign, no separators, no white space, no leading zero that another reader would take for octal.
private func wholeNumber(_ text: some StringProtocol) -> Int? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), text == "0" || !text.hasPrefix("0") else { return nil }
    return Int(text)
}

private func readUnit(_ text: String, units: [(unit: String, factor: Int64)]) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard let number = wholeNumber(digits), let factor = units.first(where: { $0.unit == unit })?.factor else { return nil }
    let (product, overflow) = Int64(number).multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
}
