/// The lines of import and export files: one serialized description each, in UTF-8 (Azure reference 2.12).
public enum RegistrationLines {
    /// The line of a registration, with its line end. Nothing is left out, so that what was exported can be imported.
    public static func line(_ description: RegistrationDescription) -> String {
        var writer = XMLWriter(isSingleLine: true)
        description.write(to: &writer, form: .typed, omitsSingleHeader: false)
        return writer.text + "\n"
    }

    /// Reads a line.
    ///
    /// - Parameter isComplete: whether the line must name a handle and a template's body; lines that delete need not.
    public static func read(
        _ line: [UInt8], isComplete: Bool = true, limits: XMLLimits = .request
    ) throws(HubDocumentError) -> RegistrationDescription {
        try RegistrationDescription(try XMLReader.root(line, limits: limits), isComplete: isComplete)
    }
}
