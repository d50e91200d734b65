import RichPushModel
import ServiceErrors
import SharedAccess

/// Which passwords may be set. Passwords that are stored already stay valid.
///
/// Length and a look at common passwords, as NIST SP 800-63B (5.1.1.2) asks for; no rule about kinds of characters.
package struct PasswordRule: Sendable {
    /// Characters, at least.
    var minimumLength: Int

    /// Creates the rule.
    package init(minimumLength: Int) { self.minimumLength = minimumLength }

    /// Throws `invalid-field`. The reason never quotes the password.
    package func check(_ password: String, of user: UserName) throws(ServiceError) {
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

/// Of what common passwords are made. Short on purpose: passwords have twelve characters, so that most lists of common ones come to
/// these words with digits and repetitions.
private enum CommonPasswords {
    /// Words, in lower case.
    static let words: [[Character]] = text.split(separator: " ").map { Array($0) }

    /// Rows of keyboards, and other sequences, both ways.
    static let rows: [[Character]] = {
        let forward = [
            "abcdefghijklmnopqrstuvwxyz", "01234567890123456789", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop",
            "azertyuiop",
            "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "1q2w3e4r5t6y7u8i9o0p", "qazwsxedcrfvtgbyhnujmikolp",
            "!@#$%^&*()", "a1b2c3d4e5f6g7h8i9",
        ]
        return forward.map { Array($0) } + forward.map { Array($0.reversed()) }
    }()

    /// Letters for which a character stands.
    static let substitutes: [Character: [Character]] = [
        "0": ["o"], "1": ["i", "l"], "3": ["e"], "4": ["a"], "5": ["s"], "7": ["t"], "8": ["b"], "@": ["a"], "$": ["s"],
        "!": ["i", "l"],
        "+": ["t"], "(": ["c"],
    ]

    private static let text = """
        password passwort passwords passwd pass passphrase mypassword thisis my is the and for change changeme please \
        letmein let me in welcome hello login logon signin admin administrator root user guest test tester testing demo \
        default secret secure security private access master superuser super server system database network company office \
        iloveyou love loveyou lovely baby babygirl angel princess sunshine sunflower flower butterfly rainbow chocolate cookie \
        monkey dragon tiger lion eagle shadow phoenix wolf panther mustang ferrari mercedes porsche harley corvette \
        football baseball basketball soccer hockey golf liverpool chelsea arsenal barcelona juventus yankees lakers cowboys \
        superman batman spiderman starwars pokemon naruto minecraft fortnite matrix ninja killer hunter warrior soldier \
        michael jordan jennifer jessica ashley charlie daniel thomas robert andrew matthew joshua anthony william nicole \
        michelle amanda hannah maria anna george london paris berlin america summer winter spring autumn january february \
        march april june july august september october november december monday friday sunday qwerty qwertz azerty asdf \
        zxcv abc abcd trustno trust whatever freedom forever friends family money computer internet samsung google apple \
        iphone android windows microsoft facebook linkedin clarion push notification notifications hub azure donald trump \
        jesus christ god heaven lucky lucky7 magic nothing number one two three
        """
}
