import RichPushModel
import WireText

/// The list of a container's files, in the form in which blob stores answer it.
public struct ContainerListing: Hashable, Sendable {
    /// One file.
    public struct Blob: Hashable, Sendable {
        public var name: String
        public var size: Int64
        /// Whole seconds on the wire.
        public var writtenAt: Timestamp
        public var etag: String

        /// Creates a file.
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

    /// Creates a list.
    public init(container: String, prefix: String? = nil, marker: String? = nil, blobs: [Blob], nextMarker: String? = nil) {
        self.container = container
        self.prefix = prefix
        self.marker = marker
        self.blobs = blobs
        self.nextMarker = nextMarker
    }
}

extension ContainerListing {
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
