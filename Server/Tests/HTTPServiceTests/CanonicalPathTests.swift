import ClarionTesting
import Testing

@testable import HTTPService

@Suite("The one spelling of a path, on random paths")
struct CanonicalPathTests {
    @Test("plain paths are decided as all others are: segment by segment")
    func random() {
        var random = SeededGenerator()
        var kept = 0
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...9, using: &random)
            let path = "/" + (0..<length).map { _ in "/.ab~%é2F ".randomElement(using: &random).map(String.init) ?? "" }.joined()
            let expected = Self.isCanonical(path)
            #expect(CanonicalPath.isCanonical(path) == expected, "\(path), seed \(random.seed)")
            kept += expected ? 1 : 0
        }
        #expect(kept > 1_000 && kept < 19_000, "both kinds are there")
    }

    /// The rule in other words: no segment is empty, `.` or `..`, and none has a byte or an escape but those of `a b ~ .` and of what
    /// needs one. Of the bytes above only `%22` … `%2F` can be such escapes, and of them those that are no sign of a segment.
    private static func isCanonical(_ path: String) -> Bool {
        guard path != "/" else { return true }
        return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
            guard !segment.isEmpty, segment != ".", segment != ".." else { return false }
            var rest = Substring(segment)
            while let next = rest.popFirst() {
                switch next {
                case ".", "a", "b", "~", "2", "F": continue
                case "%":
                    guard rest.count >= 2 else { return false }
                    let digits = rest.prefix(2)
                    rest = rest.dropFirst(2)
                    guard let value = UInt8(digits, radix: 16), digits.allSatisfy({ "ab2F".contains($0) }) else { return false }
                    // Of these, the quotation mark alone is a character that has to be escaped; bytes above 127 are no whole one here.
                    guard value == UInt8(ascii: "\"") else { return false }
                default: return false
                }
            }
            return true
        }
    }
}
