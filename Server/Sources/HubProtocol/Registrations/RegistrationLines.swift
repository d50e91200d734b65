import WireText

/// The lines of import and export files: one serialized description each, in UTF-8 (Reference/AzureNotificationHubs.md#2-12).
public enum RegistrationLines {
    /// The line of a registration, with its line end. Nothing is left out, so that what was exported can be imported.
    public static func line(_ description: RegistrationDescription) -> String {
        var writer = XMLWriter(isSingleLine: true)
        description.write(to: &writer, form: .typed, omitsSingleHeader: false)
        return writer.text + "\n"
    }

    /// The line that names a registration and nothing else, with its line end: what is left to say of one that was removed.
    public static func line(naming id: String) -> String {
        var writer = XMLWriter(isSingleLine: true)
        writer.open("RegistrationDescription", ["xmlns": Namespace.serviceBus])
        writer.element("RegistrationId", id)
        writer.close("RegistrationDescription")
        return writer.text + "\n"
    }

    /// The same line with a remark behind it, which readers of lines pass over; with its line end. Only the remark, when the line
    /// is not given.
    public static func line(_ line: [UInt8]?, remark: String) -> String {
        // A comment holds no two hyphens, and no line end if it is to stay on the line.
        var words = ""
        for character in remark {
            words.append(character.isNewline || (character == "-" && words.last == "-") ? " " : character)
        }
        let comment = "<!-- \(words) -->\n"
        return line.map { String(decoding: $0, as: UTF8.self) + " " + comment } ?? comment
    }

    /// Reads a line.
    public static func read(
        _ line: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> RegistrationDescription {
        try RegistrationDescription(try XMLReader.root(line, limits: limits))
    }

    /// Reads the id in a line of any type, complete or not: all that a removal needs.
    public static func readID(_ line: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> String {
        let root = try XMLReader.root(line, limits: limits)
        guard root.name.hasSuffix("RegistrationDescription") else {
            throw .unexpectedElement(root.name, expected: "RegistrationDescription", root.position)
        }
        return try root.required("RegistrationId")
    }
}
