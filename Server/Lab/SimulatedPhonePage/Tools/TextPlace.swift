/// A place in a text as an editor shows it: line and column in characters, both from 1.
struct TextPlace: Hashable, Sendable {
    var line = 1
    var column = 1

    /// The place of the character that this byte of the text belongs to; behind the last one for a byte beyond the end.
    init(ofByte offset: Int, in text: String) {
        var passed = 0
        for character in text {
            passed += character.utf8.count
            guard passed <= offset else { return }
            if character.isNewline {
                line += 1
                column = 1
            } else {
                column += 1
            }
        }
    }

    /// The place where a member of this name is written first; `nil` when it is written with escapes.
    init?(ofName name: String, in text: String) {
        guard let range = text.firstRange(of: "\"\(name)\"") else { return nil }
        self.init(ofByte: text.utf8.distance(from: text.startIndex, to: range.lowerBound), in: text)
    }
}
