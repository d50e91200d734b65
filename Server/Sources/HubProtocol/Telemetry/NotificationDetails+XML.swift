import RichPushModel
import WireText

extension NotificationDetails {
    /// The body of the answer, elements in the order in which .NET reads them, absent ones omitted.
    public func answer() -> String {
        var writer = XMLWriter()
        writer.open("NotificationDetails", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
        writer.element("NotificationId", id)
        writer.element("Location", location.map(Self.serviceBusURL))
        writer.element("State", state.rawValue)
        writer.element("EnqueueTime", enqueueTime.map(DateText.shortest))
        writer.element("StartTime", startTime.map(DateText.shortest))
        writer.element("EndTime", endTime.map(DateText.shortest))
        writer.element("NotificationBody", body)
        writer.element("Tags", tags)
        writer.element("TargetPlatforms", targetPlatforms.isEmpty ? nil : targetPlatforms.joined(separator: ","))
        for service in OutcomeCounts.Service.allCases {
            // The address of the details stands between the older and the newer services.
            if service == .fcm { writer.element("PnsErrorDetailsUri", errorDetailsURL) }
            for counts in outcomes where counts.service == service { Self.write(counts, to: &writer) }
        }
        writer.close("NotificationDetails")
        return writer.text
    }

    private static func write(_ counts: OutcomeCounts, to writer: inout XMLWriter) {
        guard !counts.outcomes.isEmpty else { return }
        writer.open(counts.service.rawValue)
        for outcome in counts.outcomes {
            writer.open("Outcome")
            writer.element("Name", outcome.name)
            writer.element("Count", String(outcome.count))
            writer.close("Outcome")
        }
        writer.close(counts.service.rawValue)
    }

    private static func serviceBusURL(_ url: String) -> String {
        guard let colon = url.firstRange(of: "://") else { return url }
        return "sb" + url[colon.lowerBound...]
    }

    /// Reads an answer. A state that is not in the list reads as `unknown`.
    public static func read(
        _ bytes: [UInt8], limits: XMLLimits = .request
    ) throws(HubDocumentError) -> NotificationDetails {
        let root = try XMLReader.root("NotificationDetails", bytes, limits: limits)
        var details = NotificationDetails(
            id: try root.required("NotificationId"), location: root.value("Location"),
            state: root.value("State").flatMap(State.init(rawValue:)) ?? .unknown)
        details.enqueueTime = try root.moment("EnqueueTime")
        details.startTime = try root.moment("StartTime")
        details.endTime = try root.moment("EndTime")
        details.body = root.child("NotificationBody")?.text
        details.tags = root.value("Tags")
        details.targetPlatforms = root.value("TargetPlatforms").map(Tag.texts) ?? []
        details.errorDetailsURL = root.value("PnsErrorDetailsUri")
        for service in OutcomeCounts.Service.allCases {
            guard let element = root.child(service.rawValue) else { continue }
            details.outcomes.append(try counts(service, element))
        }
        return details
    }

    private static func counts(
        _ service: OutcomeCounts.Service, _ element: XMLElement
    ) throws(HubDocumentError) -> OutcomeCounts {
        var counts = OutcomeCounts(service, [])
        for outcome in element.children("Outcome") {
            counts.outcomes.append(
                OutcomeCounts.Outcome(name: try outcome.required("Name"), count: try outcome.integer("Count") ?? 0))
        }
        return counts
    }
}
