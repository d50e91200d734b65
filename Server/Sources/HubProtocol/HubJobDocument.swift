import RichPushModel
import WireText

/// An import or export as the protocol describes it (Reference/AzureNotificationHubs.md#2-12).
public struct HubJobDocument: Hashable, Sendable {
    /// What a job does.
    public enum JobType: String, Sendable, CaseIterable {
        case exportRegistrations = "ExportRegistrations"
        case importCreateRegistrations = "ImportCreateRegistrations"
        case importUpdateRegistrations = "ImportUpdateRegistrations"
        case importDeleteRegistrations = "ImportDeleteRegistrations"
        case importUpsertRegistrations = "ImportUpsertRegistrations"
    }

    /// Where a job stands.
    public enum Status: String, Sendable, CaseIterable {
        case started = "Started"
        case running = "Running"
        case completed = "Completed"
        case failed = "Failed"
    }

    /// The output property under which a finished job names its output.
    public static let outputFilePath = "OutputFilePath"
    /// The output property under which a finished job names the lines that failed.
    public static let failedFilePath = "FailedFilePath"

    /// Absent in requests.
    public var id: String?
    /// 0 to 100, perhaps with a fraction.
    public var progress: Double?
    public var type: JobType
    public var status: Status?
    /// A signed URL of the container that takes the files of the job.
    public var outputContainer: String
    /// A signed URL of the file to import; absent for exports.
    public var importFile: String?
    public var inputProperties: [HeaderField] = []
    /// Why the job failed.
    public var failure: String?
    public var outputProperties: [HeaderField] = []
    public var createdAt: Timestamp?
    public var updatedAt: Timestamp?

    /// Creates a job as a request has it.
    public init(_ type: JobType, outputContainer: String, importFile: String? = nil) {
        self.type = type
        self.outputContainer = outputContainer
        self.importFile = importFile
    }

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

    private static func properties(_ name: String, _ element: XMLElement) throws(HubDocumentError) -> [HeaderField] {
        var properties: [HeaderField] = []
        guard let list = element.child(name) else { return properties }
        for item in list.children("KeyValueOfstringstring", in: Namespace.arrays) {
            properties.append(
                HeaderField(try item.required("Key", in: Namespace.arrays), item.value("Value", in: Namespace.arrays) ?? ""))
        }
        return properties
    }

    /// The body of a request that submits this job.
    public func request() -> String {
        var writer = XMLWriter()
        AtomEnvelope.request(to: &writer) { write(to: &$0) }
        return writer.text
    }

    /// The body of the answer: one entry. The job needs its id and its times.
    public func answer(at location: LocationHeader) -> String {
        var writer = XMLWriter()
        envelope(location).write(to: &writer) { write(to: &$0) }
        return writer.text
    }

    /// The body of a list.
    public static func feed(_ jobs: [HubJobDocument], at location: LocationHeader, updated: Timestamp) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "NotificationHubJobs", url: location.collection, updated: updated, to: &writer) { writer in
            for job in jobs { job.envelope(location).write(to: &writer, inFeed: true) { job.write(to: &$0) } }
        }
        return writer.text
    }

    private func envelope(_ location: LocationHeader) -> AtomEnvelope {
        let created = createdAt ?? Timestamp(milliseconds: 0)
        return AtomEnvelope(
            url: location.member(id ?? ""), title: id ?? "", published: created, updated: updatedAt ?? created, tag: nil)
    }

    private func write(to writer: inout XMLWriter) {
        writer.open("NotificationHubJob", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
        writer.element("JobId", id)
        writer.element("Progress", progress.map(Self.text))
        writer.element("Type", type.rawValue)
        writer.element("Status", status?.rawValue)
        writer.element("OutputContainerUri", outputContainer)
        writer.element("ImportFileUri", importFile)
        Self.write("InputProperties", inputProperties, to: &writer)
        writer.element("Failure", failure)
        Self.write("OutputProperties", outputProperties, to: &writer)
        writer.element("CreatedAt", createdAt.map(DateText.shortest))
        writer.element("UpdatedAt", updatedAt.map(DateText.shortest))
        writer.close("NotificationHubJob")
    }

    /// Java and JavaScript match these names as text, with exactly this prefix (Reference/AzureNotificationHubs.md#2-12).
    private static func write(_ name: String, _ properties: [HeaderField], to writer: inout XMLWriter) {
        guard !properties.isEmpty else { return }
        writer.open(name, ["xmlns:d3p1": Namespace.arrays])
        for property in properties {
            writer.open("d3p1:KeyValueOfstringstring")
            writer.element("d3p1:Key", property.name)
            writer.element("d3p1:Value", property.value)
            writer.close("d3p1:KeyValueOfstringstring")
        }
        writer.close(name)
    }

    /// `0`, `100`, `33.4`.
    private static func text(_ progress: Double) -> String {
        let tenths = Int((min(max(progress, 0), 100) * 10).rounded(.down))
        return tenths.isMultiple(of: 10) ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }
}

/// The list of a container's files, in the form in which blob stores answer it.
public struct ContainerListing: Hashable, Sendable {
    /// One file.
    public struct Blob: Hashable, Sendable {
        public var name: String
        public var size: Int64
        /// Whole seconds on the wire.
        public var writtenAt: Timestamp
        public var etag: String

        public init(name: String, size: Int64, writtenAt: Timestamp, etag: String) {
            self.name = name
            self.size = size
            self.writtenAt = writtenAt
            self.etag = etag
        }
    }

    /// The name of the container.
    public var container: String
    public var prefix: String?
    public var marker: String?
    public var blobs: [Blob]
    /// Where the next page begins; `nil` on the last one.
    public var nextMarker: String?

    public init(container: String, prefix: String? = nil, marker: String? = nil, blobs: [Blob], nextMarker: String? = nil) {
        self.container = container
        self.prefix = prefix
        self.marker = marker
        self.blobs = blobs
        self.nextMarker = nextMarker
    }

    /// The body of the answer.
    public func answer() -> String {
        var writer = XMLWriter()
        writer.raw("<?xml version=\"1.0\" encoding=\"utf-8\"?>")
        writer.open("EnumerationResults", ["ContainerName": container])
        writer.element("Prefix", prefix)
        writer.element("Marker", marker)
        writer.open("Blobs")
        for blob in blobs {
            writer.open("Blob")
            writer.element("Name", blob.name)
            writer.open("Properties")
            writer.element("Last-Modified", HTTPDate.text(blob.writtenAt))
            writer.element("Etag", blob.etag)
            writer.element("Content-Length", String(blob.size))
            writer.element("Content-Type", "application/octet-stream")
            writer.element("BlobType", "BlockBlob")
            writer.close("Properties")
            writer.close("Blob")
        }
        writer.close("Blobs")
        if let nextMarker { writer.element("NextMarker", nextMarker) } else { writer.empty("NextMarker") }
        writer.close("EnumerationResults")
        return writer.text
    }

    /// Reads names, sizes and the next marker; dates are not needed by this product's client and read as 1970.
    public static func read(_ bytes: [UInt8], limits: XMLLimits = .feed) throws(HubDocumentError) -> ContainerListing {
        let root = try XMLReader.root("EnumerationResults", in: "", bytes, limits: limits)
        var listing = ContainerListing(
            container: root.attribute("ContainerName") ?? "", prefix: root.value("Prefix", in: ""),
            marker: root.value("Marker", in: ""), blobs: [], nextMarker: root.value("NextMarker", in: ""))
        for blob in root.child("Blobs", in: "")?.children("Blob", in: "") ?? [] {
            let properties = blob.child("Properties", in: "")
            listing.blobs.append(
                Blob(
                    name: try blob.required("Name", in: ""),
                    size: properties?.value("Content-Length", in: "").flatMap { Int64($0) } ?? 0,
                    writtenAt: Timestamp(milliseconds: 0), etag: properties?.value("Etag", in: "") ?? ""))
        }
        return listing
    }
}
