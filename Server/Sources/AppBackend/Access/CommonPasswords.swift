/// Of what common passwords are made. Short on purpose: passwords have twelve characters, so that most lists of common ones come to
/// these words with digits and repetitions.
enum CommonPasswords {
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
