/// What one source says: texts by key, each with the place it stands, and what could not be understood at all.
struct SettingSource: Sendable {
    struct Entry: Hashable, Sendable {
        /// One text, or for a list any number.
        var texts: [String]
        var origin: SettingOrigin
    }

    var entries: [String: Entry] = [:]
    var problems: [SettingProblem] = []

    mutating func complain(_ origin: SettingOrigin, _ sentence: String) {
        problems.append(SettingProblem(place: origin.description, sentence: sentence))
    }

    /// The texts of a list that came as one text.
    static func split(_ text: String) -> [String] {
        text.split(separator: ",").map { piece in
            String(piece.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
    }
}
