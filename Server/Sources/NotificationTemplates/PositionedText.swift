/// A text whose characters know the byte of the body that they were read from, so that an error in an expression names the place
/// in the body even behind escapes.
struct PositionedText {
    private(set) var scalars: [Unicode.Scalar] = []
    /// The byte of each scalar.
    private(set) var offsets: [Int] = []
    /// The byte behind the last scalar.
    var end: Int

    init(end: Int) { self.end = end }

    /// A text that stands by itself, without escapes.
    init(_ text: String) {
        end = text.utf8.count
        var offset = 0
        for scalar in text.unicodeScalars {
            append(scalar, at: offset)
            offset += UTF8.width(scalar)
        }
    }

    mutating func append(_ scalar: Unicode.Scalar, at offset: Int) {
        scalars.append(scalar)
        offsets.append(offset)
    }

    /// The byte of the scalar at `index`, or of the end.
    func offset(_ index: Int) -> Int { index < offsets.count ? offsets[index] : end }

    /// The whole text.
    var string: String { self[scalars.indices] }

    /// The text between two scalars.
    subscript(range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }
}
