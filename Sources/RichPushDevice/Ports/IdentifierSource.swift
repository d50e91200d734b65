/// The one source of chance, so that a test can repeat a run.
public protocol IdentifierSource: Sendable {
    /// 32 random hexadecimal digits in lower case.
    func newIdentifier() -> String
    /// A number from 0 up to but not including 1, for jitter.
    func fraction() -> Double
}

/// Chance from the system.
public struct SystemIdentifierSource: IdentifierSource {
    /// Creates a source; all are alike.
    public init() {}

    public func newIdentifier() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let word = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
    }

    public func fraction() -> Double { Double.random(in: 0..<1) }
}
