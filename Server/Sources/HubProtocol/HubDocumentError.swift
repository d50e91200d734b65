import RichPushModel
import WireText

/// Why a document of the protocol cannot be taken. The words name elements, lines and rules; never a value that could be a
/// device token or content.
public enum HubDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no document at all.
    case malformed(XMLFault)
    /// The outermost element, or the one in `content`, is another than the one that belongs there.
    case unexpectedElement(String, expected: String, XMLPosition)
    /// A registration of a type that the protocol does not have.
    case unknownRegistrationType(String, XMLPosition)
    /// An element is missing or empty.
    case missing(String, in: String, XMLPosition)
    /// The text of an element breaks its rule.
    case invalid(String, rule: String, XMLPosition)

    /// Whether there was nothing but comments and blanks.
    public var isEmpty: Bool {
        if case .malformed(let fault) = self, fault.problem == .empty { return true }
        return false
    }

    /// Whether the document was too large rather than wrong: 413 instead of 400.
    public var isTooLarge: Bool {
        if case .malformed(let fault) = self { return fault.problem.isTooLong }
        return false
    }

    /// A sentence for the caller, to be used as the detail of the error body (Reference/AzureNotificationHubs.md#6-2).
    public var description: String {
        switch self {
        case .malformed(let fault): "The XML cannot be read: \(fault)."
        case .unexpectedElement(let name, let expected, let position):
            "The element \(name.shortened) stands at \(position) where \(expected) is expected."
        case .unknownRegistrationType(let name, let position):
            "The registration type \(name.shortened) at \(position) is unknown."
        case .missing(let name, let parent, let position): "\(parent) at \(position) has no \(name)."
        case .invalid(let name, let rule, let position): "\(name) at \(position) is not valid: \(rule)."
        }
    }
}

/// The body of every error of the hub protocol (Reference/AzureNotificationHubs.md#6-2): without a namespace, `Code` before
/// `Detail`.
public struct ErrorBody: Hashable, Sendable {
    /// The status.
    public var code: Int
    /// The human-readable text. .NET looks inside for `SubCode={n}`.
    public var detail: String
}

extension ErrorBody {
    /// Creates a body with the service's ending `.TrackingId:{id}_G0,TimeStamp:{M/d/yyyy h:mm:ss tt}`.
    ///
    /// - Parameter subCode: a number of the table in 6.2, for a detail that begins `SubCode=40900. Conflict.`
    public init(code: Int, detail: String, subCode: Int? = nil, trackingID: String, at moment: Timestamp) {
        let sentence = detail.hasSuffix(".") ? String(detail.dropLast()) : detail
        let prefix = subCode.map { "SubCode=\($0). " } ?? ""
        self.init(code: code, detail: "\(prefix)\(sentence).TrackingId:\(trackingID)_G0,TimeStamp:\(Self.americanTime(moment))")
    }

    /// The body of the answer.
    public func answer() -> String {
        var writer = XMLWriter()
        writer.open("Error")
        writer.element("Code", String(code))
        writer.element("Detail", detail)
        writer.close("Error")
        return writer.text
    }

    /// Reads a body; `nil` when it is none: empty and foreign bodies are common, and no reason to lose the status.
    public static func read(_ bytes: [UInt8], limits: XMLLimits = .request) -> ErrorBody? {
        guard let root = try? XMLReader.root("Error", in: "", bytes, limits: limits),
            let code = root.value("Code", in: "").flatMap({ Int($0) })
        else { return nil }
        return ErrorBody(code: code, detail: root.value("Detail", in: "") ?? "")
    }

    /// The detail without the ending that the service adds.
    public var sentence: String {
        guard let ending = detail.firstRange(of: ".TrackingId:") else { return detail }
        return String(detail[..<ending.lowerBound]) + "."
    }

    /// The tracking id in the detail, without the node's name.
    public var trackingID: String? {
        guard let start = detail.firstRange(of: "TrackingId:") else { return nil }
        let id = detail[start.upperBound...].prefix { $0 != "_" && $0 != "," && $0 != " " }
        return id.isEmpty ? nil : String(id)
    }

    /// The number after `SubCode=` in the detail.
    public var subCode: Int? {
        guard let start = detail.firstRange(of: "SubCode=") else { return nil }
        return Int(detail[start.upperBound...].prefix { $0.isNumber })
    }

    /// `3/1/2026 10:00:00 AM`
    private static func americanTime(_ moment: Timestamp) -> String {
        let parts = WireTime(moment).description.split { "-T:.Z".contains($0) }.compactMap { Int($0) }
        guard parts.count >= 6 else { return "" }
        let hour = parts[3] % 12 == 0 ? 12 : parts[3] % 12
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        return "\(parts[1])/\(parts[2])/\(parts[0]) \(hour):\(two(parts[4])):\(two(parts[5])) \(parts[3] < 12 ? "AM" : "PM")"
    }
}
