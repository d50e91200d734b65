import RichPushModel
import WireText

extension HubJobDocument {
    /// Reads the entry of a request or an answer.
    public static func read(entry bytes: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> HubJobDocument {
        try HubJobDocument(try AtomContent.entry(bytes, limits: limits).element)
    }

    /// Reads the feed of a list.
    public static func read(feed bytes: [UInt8], limits: XMLLimits = .feed) throws(HubDocumentError) -> [HubJobDocument] {
        var jobs: [HubJobDocument] = []
        for content in try AtomContent.feed(bytes, limits: limits) { jobs.append(try HubJobDocument(content.element)) }
        return jobs
    }

    private init(_ element: XMLElement) throws(HubDocumentError) {
        guard element.isNamed("NotificationHubJob", in: Namespace.serviceBus) else {
            throw .unexpectedElement(element.name, expected: "NotificationHubJob", element.position)
        }
        guard let type = JobType(rawValue: try element.required("Type")) else {
            throw .invalid(
                "Type", rule: "it is one of " + JobType.allCases.map(\.rawValue).joined(separator: ", "),
                element.child("Type")?.position ?? element.position)
        }
        self.init(type, outputContainer: try element.required("OutputContainerUri"), importFile: element.value("ImportFileUri"))
        id = element.value("JobId")
        progress = try Self.progress(element)
        status = element.value("Status").flatMap(Status.init(rawValue:))
        inputProperties = try Self.properties("InputProperties", element)
        failure = element.value("Failure")
        outputProperties = try Self.properties("OutputProperties", element)
        createdAt = try element.moment("CreatedAt")
        updatedAt = try element.moment("UpdatedAt")
        if type != .exportRegistrations, importFile == nil {
            throw .missing("ImportFileUri", in: "NotificationHubJob", element.position)
        }
    }

    private static func progress(_ element: XMLElement) throws(HubDocumentError) -> Double? {
        guard let text = element.value("Progress") else { return nil }
        guard let number = Double(text), (0...100).contains(number) else {
            throw .invalid("Progress", rule: "it is a number from 0 to 100", element.position)
        }
        return number
    }

    private static func properties(_ name: String, _ element: XMLElement) throws(HubDocumentError) -> [Property] {
        var properties: [Property] = []
        guard let list = element.child(name) else { return properties }
        for item in list.children("KeyValueOfstringstring", in: Namespace.arrays) {
            properties.append(
                Property(
                    key: try item.required("Key", in: Namespace.arrays), value: item.value("Value", in: Namespace.arrays) ?? ""))
        }
        return properties
    }
}
