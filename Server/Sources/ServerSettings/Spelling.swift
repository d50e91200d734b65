/// Finds the word that was probably meant by a mistyped one.
public enum Spelling {
    /// The sentence about an unknown key, with the nearest known one if there is one.
    static func unknown(_ word: String, among known: [String], show: (String) -> String = { $0 }) -> String {
        nearest(to: word, among: known).map { "is not a setting; did you mean \(show($0))?" } ?? "is not a setting"
    }

    /// The known word that is so near that it was probably meant.
    public static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        let nearest = known.map { (distance: distance(word, $0), key: $0) }.min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(2, word.count / 4) else { return nil }
        return nearest.key
    }

    /// How many letters must be put in, taken out or exchanged to turn one word into the other.
    static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, letter) in left.utf8.prefix(100).enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
