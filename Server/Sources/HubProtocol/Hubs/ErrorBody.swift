import RichPushModel
import WireText

/// The body of every error of the hub protocol (Reference/AzureNotificationHubs.md#6-2): without a namespace, `Code` before
/// `Detail`.
public struct ErrorBody: Hashable, Sendable {
    /// The status.
    public var code: Int
    /// What people read. .NET looks inside for `SubCode={n}`.
    public var detail: String

    /// Creates a body whose detail stands as it is.
    public init(code: Int, detail: String) {
        self.code = code
        self.detail = detail
    }

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
