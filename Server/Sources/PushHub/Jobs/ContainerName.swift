/// The name of a container of files: 3 to 63 lower-case letters, digits and hyphens, as those of blob stores elsewhere.
public struct ContainerName: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Creates a name; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (3...63).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private init(trusted text: String) { self.text = text }

    /// A new name that nobody can guess.
    public static func random() -> ContainerName {
        let digits = Array("0123456789abcdef".unicodeScalars)
        var text = ""
        for _ in 0..<32 { text.unicodeScalars.append(digits[Int.random(in: 0..<16)]) }
        return ContainerName(trusted: text)
    }

    /// The container in which a hub's feedback is laid down.
    public static let feedback = ContainerName(trusted: "feedback")

    /// The container in which the errors of each send are one file, made when it is read.
    public static let sendErrors = ContainerName(trusted: "send-errors")

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
