/// What the words of a notification may be, wherever that is checked: by the app backend, and by a sender who seals them, since then nobody
/// else can.
public enum WordsRule {
    /// Of a message, and of the terms of a coupon, in Unicode scalars: one visible character may have any number of marks, and this bounds
    /// the bytes too.
    public static let message = 1...2000
    /// Of a title, a subtitle and the headline of a coupon.
    public static let title = 1...200
    /// Of what is said of a picture to those who cannot see it.
    public static let altText = 1...1000
    /// Of a coupon's code.
    public static let code = 1...64

    /// What a text must be and is not; `nil` for one that is fit, and for none.
    public static func fault(of text: String?, scalars: ClosedRange<Int>) -> String? {
        guard let text else { return nil }
        guard scalars.contains(text.unicodeScalars.count) else {
            return "\(scalars.lowerBound) to \(scalars.upperBound) characters"
        }
        // A blank notification would be pushed and could not be read.
        guard !text.unicodeScalars.allSatisfy(isInvisible) else { return "more than white space" }
        return text.unicodeScalars.contains(where: isControl) ? "text without control characters" : nil
    }

    /// The first field of a coupon that is not fit, and what it must be.
    public static func fault(of coupon: Coupon) -> (field: String, rule: String)? {
        let fields: [(String, String?, ClosedRange<Int>)] = [
            ("coupon.code", coupon.code, code), ("coupon.headline", coupon.headline, title),
            ("coupon.terms", coupon.terms, message),
        ]
        for (field, text, scalars) in fields {
            if let rule = fault(of: text, scalars: scalars) { return (field, rule) }
        }
        return nil
    }

    /// Whether a character of a text says nothing to anybody and is no end of a line and no tabulator.
    public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\n" && scalar != "\t" && scalar != "\r"
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
    }
}
