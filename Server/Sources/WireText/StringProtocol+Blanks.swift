extension StringProtocol {
    /// The text without blanks, tabs and line ends at its ends.
    @inlinable
    package var trimmingBlanks: String {
        let isInside: (Unicode.Scalar) -> Bool = { $0 != " " && $0 != "\t" && $0 != "\r" && $0 != "\n" }
        guard let first = unicodeScalars.firstIndex(where: isInside), let last = unicodeScalars.lastIndex(where: isInside) else {
            return ""
        }
        return String(self[first..<unicodeScalars.index(after: last)])
    }
}
