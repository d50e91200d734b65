import RichPushModel
import ServiceErrors
import SharedAccess

/// Which passwords may be set. Passwords that are stored already stay valid.
///
/// Length and a look at common passwords, as NIST SP 800-63B (5.1.1.2) asks for; no rule about kinds of characters.
struct PasswordRule: Sendable {
    /// Characters, at least.
    var minimumLength: Int

    /// Throws `invalid-field`. The reason never quotes the password.
    func check(_ password: String, of user: UserName) throws(ServiceError) {
        guard password.count >= minimumLength else {
            throw Self.refusal("it has at least \(minimumLength) characters")
        }
        guard password.utf8.count <= BasicCredential.maximumPasswordLength else {
            throw Self.refusal("it has at most \(BasicCredential.maximumPasswordLength) bytes of UTF-8")
        }
        guard !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Self.refusal("it has no control characters")
        }
        guard !isCommon(password, of: user) else {
            throw Self.refusal(
                "it is made of common passwords, sequences or the user's name alone; add words that belong to no such list")
        }
    }

    private static func refusal(_ reason: String) -> ServiceError { ServiceError(.invalidField, "password: \(reason)") }

    /// Whether common words, the name, sequences, repetitions, dates and punctuation cover all of it.
    private func isCommon(_ password: String, of user: UserName) -> Bool {
        let text = Array(password.lowercased())
        guard !Self.isRepeated(text) else { return true }
        let words = CommonPasswords.words + Self.parts(of: user.folded).map { Array($0) }
        var isCovered = [true] + Array(repeating: false, count: text.count)
        for start in text.indices where isCovered[start] {
            for end in Self.ends(of: words, in: text, from: start) { isCovered[end] = true }
        }
        return isCovered[text.count]
    }

    /// The name and the words in it: `ann.lee@example.com` has four.
    private static func parts(of name: String) -> [String] {
        [name] + name.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).map(String.init).filter { $0.count >= 3 }
    }

    /// Where the common pieces that begin here end.
    private static func ends(of words: [[Character]], in text: [Character], from start: Int) -> [Int] {
        var ends = words.filter { matches($0, in: text, from: start) }.map { start + $0.count }
        for row in CommonPasswords.rows {
            ends += sequenceEnds(row, in: text, from: start)
        }
        let first = text[start]
        if first.isASCII, !first.isLetter, !first.isNumber { ends.append(start + 1) }
        let sameEnd = text[start...].firstIndex { $0 != first } ?? text.count
        if sameEnd - start >= 3 { ends.append(sameEnd) }
        let isFirstDigit = first.isNumber && (start == 0 || !text[start - 1].isNumber)
        let digitsEnd = text[start...].firstIndex { !$0.isNumber } ?? text.count
        if isFirstDigit, digitsEnd - start <= longestDate { ends.append(digitsEnd) }
        return ends
    }

    /// Where a run along the row may end, in steps of one: four characters or more.
    private static func sequenceEnds(_ row: [Character], in text: [Character], from start: Int) -> [Int] {
        var ends: [Int] = []
        for offset in row.indices where row[offset] == text[start] {
            let length = zip(row[offset...], text[start...]).prefix { $0 == $1 }.count
            if length >= 4 { ends += (4...length).map { start + $0 } }
        }
        return ends
    }

    private static func matches(_ word: [Character], in text: [Character], from start: Int) -> Bool {
        guard start + word.count <= text.count else { return false }
        return zip(word, text[start...]).allSatisfy { $0 == $1 || CommonPasswords.substitutes[$1]?.contains($0) == true }
    }

    /// One to four characters over and over.
    private static func isRepeated(_ text: [Character]) -> Bool {
        (1...4).contains { length in
            text.count >= 2 * length && text.indices.dropFirst(length).allSatisfy { text[$0] == text[$0 - length] }
        }
    }

    /// The digits of a date.
    private static let longestDate = 8
}
