import RichPushModel

extension HubJobDocument {
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
    private static func write(_ name: String, _ properties: [Property], to writer: inout XMLWriter) {
        guard !properties.isEmpty else { return }
        writer.open(name, ["xmlns:d3p1": Namespace.arrays])
        for property in properties {
            writer.open("d3p1:KeyValueOfstringstring")
            writer.element("d3p1:Key", property.key)
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
