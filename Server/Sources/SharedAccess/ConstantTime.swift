/// Comparison of secrets.
public enum ConstantTime {
    /// Whether two byte sequences are equal, in a time that depends on their lengths only.
    public static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (a, b) in zip(left, right) { difference |= a ^ b }
        return difference == 0
    }
}
