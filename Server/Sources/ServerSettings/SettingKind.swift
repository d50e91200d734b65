import RichPushModel
import SharedAccess

/// The type of a setting: how its texts are read, how a value is written back, and what to say when a text does not fit.
///
/// Every source hands over text and every text is read here, so that a port is the same port on a command line, in a variable
/// and in a file, and so that nothing malformed can turn into a default.
struct SettingKind<Value: Hashable & Sendable>: Sendable {
    /// What is accepted, as the end of the sentence "is not …".
    let accepts: String
    let isList: Bool
    let isFlag: Bool
    /// Reads the texts of a value; one text unless `isList`. `nil` means that they do not fit.
    let parse: @Sendable ([String]) -> Value?
    /// Writes a value as it would stand in the file; `nil` means that there is none.
    let format: @Sendable (Value) -> [String]?

    /// A kind whose value is one text.
    static func scalar(
        _ accepts: String, isFlag: Bool = false, parse: @escaping @Sendable (String) -> Value?,
        format: @escaping @Sendable (Value) -> String
    ) -> SettingKind {
        SettingKind(
            accepts: accepts, isList: false, isFlag: isFlag,
            parse: { texts in texts.count == 1 ? texts.first.flatMap(parse) : nil },
            format: { [format($0)] })
    }

    /// A kind that may be absent.
    static func optional<Wrapped: Hashable & Sendable>(_ kind: SettingKind<Wrapped>) -> SettingKind where Value == Wrapped? {
        SettingKind(
            accepts: kind.accepts, isList: kind.isList, isFlag: kind.isFlag,
            parse: { texts in kind.parse(texts).map(Optional.some) },
            format: { value in value.flatMap(kind.format) })
    }

    /// A list of values of one kind; commas separate them outside the file.
    static func list<Element: Hashable & Sendable>(_ kind: SettingKind<Element>) -> SettingKind where Value == [Element] {
        SettingKind(
            accepts: "a list in which each element is \(kind.accepts)", isList: true, isFlag: false,
            parse: { texts in
                let values = texts.compactMap { kind.parse([$0]) }
                return values.count == texts.count ? values : nil
            },
            format: { values in values.flatMap { kind.format($0) ?? [] } })
    }
}

extension SettingKind where Value == String {
    /// Free text of 1 to `limit` characters without control characters.
    static func text(limit: Int) -> SettingKind {
        .scalar(
            "text of 1 to \(limit) characters on one line",
            parse: { text in
                let plain = text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
                return (1...limit).contains(text.count) && plain ? text : nil
            }, format: { $0 })
    }

    /// Text made of a fixed set of ASCII characters.
    static func word(_ accepts: String, length: ClosedRange<Int>, characters: String) -> SettingKind {
        let allowed = Set(characters)
        return .scalar(
            accepts,
            parse: { text in
                length.contains(text.count) && text.allSatisfy(allowed.contains) ? text : nil
            }, format: { $0 })
    }

    /// A path of the file system, relative to the working directory unless it begins with `/`.
    static var path: SettingKind {
        .scalar(
            "a path (~ is not expanded)",
            parse: { text in
                text.isEmpty || text.hasPrefix("~") || text.utf8.contains(0) || text.utf8.count > 4000 ? nil : text
            }, format: { $0 })
    }

    /// A host name or address.
    static var host: SettingKind {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-")
        return .scalar(
            "a host name or an IP address, without a port",
            parse: { text in
                if AddressRange.bytes(ofAddress: text) != nil { return text }
                guard (1...253).contains(text.count), text.allSatisfy(allowed.contains) else { return nil }
                // A name that looks like an address but is none, such as 300.1.1.1, would be asked of the name service.
                return text.allSatisfy { $0.isNumber || $0 == "." } ? nil : text
            }, format: { $0 })
    }
}

extension SettingKind where Value == SecretText {
    /// Text of at most 10,000 characters that is never shown; line breaks are allowed, since keys have them.
    static var secret: SettingKind {
        .scalar(
            "text of 1 to 10000 characters",
            parse: { text in
                (1...10_000).contains(text.count) ? SecretText(text) : nil
            }, format: { _ in "(secret)" })
    }
}

extension SettingKind where Value == Bool {
    /// `true` or `false` and nothing else: `yes` and `on` mean different things to different readers of YAML.
    static var flag: SettingKind {
        .scalar("true or false", isFlag: true, parse: { $0 == "true" ? true : $0 == "false" ? false : nil }, format: { "\($0)" })
    }
}

extension SettingKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    static var choice: SettingKind {
        let values = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return .scalar("one of \(values)", parse: { Value(rawValue: $0) }, format: { $0.rawValue })
    }
}

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
