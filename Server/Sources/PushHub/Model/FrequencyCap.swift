import WireText

/// How many sends of one kind a user gets at most in a time that ends now.
///
/// A send counts for a user when it is their devices' turn. It counts once, for all devices of the user and all tries.
public struct FrequencyCap: Hashable, Sendable, CustomStringConvertible {
    /// 1 to 32 lower-case letters, digits and hyphens. Sends with the same name count together.
    public let name: String
    /// 1 to 1,000.
    public let limit: Int
    /// From a minute to 31 days.
    public let window: Duration

    /// Creates a cap; `nil` for values outside the ranges.
    public init?(_ name: String, limit: Int, window: Duration) {
        let isName = name.utf8.allSatisfy { $0.isASCIILetterOrDigit && !(0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
        guard (1...32).contains(name.utf8.count), isName, (1...1_000).contains(limit), Self.windows.contains(window) else {
            return nil
        }
        (self.name, self.limit, self.window) = (name, limit, window)
    }

    /// Reads `marketing=3/7d`: at most three in seven days. The units are m, h and d.
    public init?(_ text: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let rule = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard rule.count == 2, let limit = Self.number(rule[0]), let unit = rule[1].last.flatMap({ Self.units[$0] }),
            let count = Self.number(rule[1].dropLast())
        else { return nil }
        self.init(String(parts[0]), limit: limit, window: .seconds(count * unit))
    }

    /// The form that is read, with the largest unit that fits.
    public var description: String { "\(name)=\(limit)/\(windowText)" }

    /// The time, such as `7d`.
    public var windowText: String {
        let seconds = Int(window.components.seconds)
        let unit = Self.units.filter { seconds.isMultiple(of: $0.value) }.max { $0.value < $1.value }
        return "\(seconds / (unit?.value ?? 60))\(unit?.key ?? "m")"
    }

    /// The longest time that a cap can look back.
    static let windows: ClosedRange<Duration> = .seconds(60) ... .seconds(31 * 86_400)

    private static let units: [Character: Int] = ["m": 60, "h": 3_600, "d": 86_400]

    private static func number(_ text: Substring) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// What a cap says of one device and one send.
public struct CapCount: Hashable, Sendable {
    public var cap: FrequencyCap
    /// Whether the send was counted for the user of the device, so that it was not held back.
    public var isCounted: Bool
    /// How many other sends count now.
    public var others: Int

    /// Creates a count.
    public init(cap: FrequencyCap, isCounted: Bool, others: Int) {
        self.cap = cap
        self.isCounted = isCounted
        self.others = others
    }
}
