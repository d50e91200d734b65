import RichPushModel
import RichPushSealing

/// A sender's name for a content, as a file on the device may have it. It is the one text from the network that becomes a part of
/// a path, so only what is listed here passes, and the file has a folder to itself (Reference/IOSClient.md#6).
enum DisplayFileName {
    /// Fits the 255 bytes of a file system with an ending.
    private static let longest = 120
    private static let marks = Set<Character>(" -_.,()+&")

    /// The name without separators, invisible characters and leading points, with the ending of what the content really is.
    static func cleaned(_ name: String?, mediaType: String) -> String {
        let format = MediaFormat(declared: mediaType)
        var text = String((name ?? "").map { isPlain($0) ? $0 : "_" })
        while text.utf8.count > longest { text.removeLast() }
        text = String(text.drop { $0 == "." || $0 == " " })
        while text.last == " " || text.last == "." { text.removeLast() }
        guard text.contains(where: { $0.isLetter || $0.isNumber }) else { return "content.\(format?.fileExtension ?? "bin")" }
        // An ending that means the same stays as the sender wrote it; any other is part of the name.
        if let format, MediaFormat(fileName: text) == format { return text }
        return "\(text).\(format?.fileExtension ?? "bin")"
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || marks.contains(character)
    }
}
