/// A number that stands for the text of a statement.
enum StatementName {
    /// FNV-1a with 64 bits: two of some hundred texts never meet, and every process finds the same.
    static func number(of text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
