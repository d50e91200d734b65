extension Tag {
    /// The tags of a comma-separated list as they stand there, without blanks around and without empty places
    /// (Reference/AzureNotificationHubs.md#3-1). A comma between braces is part of the name of a user or an installation.
    public static func texts(separatedByCommas text: String) -> [String] {
        // Most lists have neither blanks nor braces.
        guard text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "$") }) else {
            return text.split(separator: ",").map { String($0) }
        }
        let scalars = Array(text.unicodeScalars)
        var texts: [String] = []
        var start = 0
        while start < scalars.count {
            let end = end(of: scalars[start...])
            let tag = scalars[start..<end].drop { $0.properties.isWhitespace }
            let blanks = tag.reversed().prefix { $0.properties.isWhitespace }.count
            var view = String.UnicodeScalarView()
            view.append(contentsOf: tag.dropLast(blanks))
            if !view.isEmpty { texts.append(String(view)) }
            start = end + 1
        }
        return texts
    }

    /// Where the first tag of the rest ends: at the next comma, for one that begins with `$` at the next behind its braces.
    private static func end(of rest: ArraySlice<Unicode.Scalar>) -> Int {
        let tag = rest.drop { $0.properties.isWhitespace }
        let comma = tag.firstIndex(of: ",") ?? rest.endIndex
        guard tag.first == "$", let open = tag.firstIndex(of: "{"), open < comma, let close = tag[open...].firstIndex(of: "}")
        else { return comma }
        return tag[close...].firstIndex(of: ",") ?? rest.endIndex
    }
}
