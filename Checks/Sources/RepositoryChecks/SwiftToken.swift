/// A word or a mark of Swift code. Comments and the text of strings are left out, with them what only an interpolation says.
struct SwiftToken {
    let text: String
    let line: Int

    var isWord: Bool { text.utf8.first.map { !Self.isMark($0) } ?? false }

    /// The tokens of a file in their order. Import lines have none: what they name is no use of this module.
    static func tokens(of file: SourceFile) -> [SwiftToken] {
        let imports = Set(file.imports.map(\.line))
        var stripper = LiteralStripper()
        var tokens: [SwiftToken] = []
        for (index, line) in file.lines.enumerated() {
            let code = stripper.strip(line)
            if !imports.contains(index + 1) { append(code, line: index + 1, to: &tokens) }
        }
        return tokens
    }

    private static func append(_ code: String, line: Int, to tokens: inout [SwiftToken]) {
        var rest = code.utf8[...]
        while let first = rest.first {
            let end = isMark(first) ? rest.index(after: rest.startIndex) : rest.firstIndex(where: isMark) ?? rest.endIndex
            // A name in backticks is the same name without them.
            if !isBlank(first), first != UInt8(ascii: "`") {
                tokens.append(SwiftToken(text: String(Substring(rest[..<end])), line: line))
            }
            rest = rest[end...]
        }
    }

    /// Everything of ASCII but letters, digits and the underscore.
    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), 0x80...:
            false
        default: true
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
