import ServiceErrors
import WireText

/// What the headers of one part of `multipart/form-data` say (RFC 7578).
public struct MultipartPartHead: Hashable, Sendable {
    /// The field name.
    public var name: String
    /// The file name as sent; clean it with `FileName` before any use.
    public var fileName: String?
    /// The declared media type without parameters, in lower case.
    public var mediaType: String?

    /// Creates a head.
    public init(name: String, fileName: String? = nil, mediaType: String? = nil) {
        self.name = name
        self.fileName = fileName
        self.mediaType = mediaType
    }

    /// Reads the header lines of a part. Throws `malformed-multipart`.
    init(headerBytes: [UInt8]) throws(ServiceError) {
        guard let text = String(validating: headerBytes, as: UTF8.self), !headerBytes.contains(0) else {
            throw ServiceError(.malformedMultipart, "the headers of a part are not UTF-8")
        }
        var headers: [String: String] = [:]
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":"), line.first != " ", line.first != "\t" else {
                throw ServiceError(.malformedMultipart, "a part has a header line without a name")
            }
            let name = line[..<colon].lowercased()
            guard headers.updateValue(String(line[line.index(after: colon)...]), forKey: name) == nil else {
                throw ServiceError(.malformedMultipart, "a part has the same header twice")
            }
        }
        guard let disposition = headers["content-disposition"].flatMap({ HeaderParameters($0) }),
            disposition.value.lowercased() == "form-data", let name = disposition.parameters["name"]
        else {
            throw ServiceError(.malformedMultipart, "a part has no Content-Disposition of form-data with a name")
        }
        let encoding = headers["content-transfer-encoding"].flatMap { HeaderParameters($0)?.value.lowercased() } ?? "binary"
        guard ["binary", "8bit", "7bit"].contains(encoding) else {
            throw ServiceError(.malformedMultipart, "a part has a Content-Transfer-Encoding; only plain bytes are read")
        }
        self.name = name
        fileName =
            disposition.parameters["filename*"].flatMap(ContentDisposition.decodedExtendedValue)
            ?? disposition.parameters["filename"]
        mediaType = headers["content-type"].flatMap { HeaderParameters($0)?.value.lowercased() }
    }
}
