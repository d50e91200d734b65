import APNsProtocol

/// What the observer is shown.
extension APNsConnectionHandler {
    func report(_ ticket: PushTicket, stream: UInt32) -> APNsRequestReport {
        if let request = ticket.submission.request { return report(request, ticket, stream: stream) }
        let push = ticket.push
        var fields = [
            APNsRequestReport.Field(name: ":method", value: "POST"),
            APNsRequestReport.Field(name: ":scheme", value: "https"),
            APNsRequestReport.Field(name: ":authority", value: configuration.authority),
            APNsRequestReport.Field(name: ":path", value: "/3/device/\(push.deviceToken.prefix(6).lowercased())…"),
            APNsRequestReport.Field(name: "apns-topic", value: push.headers.topic),
            APNsRequestReport.Field(name: "apns-push-type", value: push.headers.pushType.rawValue),
        ]
        func add(_ name: String, _ value: String?) {
            if let value { fields.append(APNsRequestReport.Field(name: name, value: value)) }
        }
        add("apns-priority", push.headers.priority.map { String($0) })
        add("apns-expiration", push.headers.expiration.map { String($0) })
        add("apns-collapse-id", push.headers.collapseID)
        add("apns-id", push.apnsID.map { APNsUUID.text($0) })
        return APNsRequestReport(
            apnsID: push.apnsID, fields: fields, payloadSize: push.payload.count, connection: id, stream: Int(stream),
            isResend: ticket.resends > 0)
    }

    private func report(_ request: APNsChannelRequest, _ ticket: PushTicket, stream: UInt32) -> APNsRequestReport {
        let pseudoFields = [
            (":method", request.method.rawValue), (":scheme", "https"), (":authority", configuration.authority),
            (":path", request.path),
        ]
        let fields = pseudoFields + request.fields.map { ($0.name, $0.value) }
        return APNsRequestReport(
            apnsID: nil, fields: fields.map { APNsRequestReport.Field(name: $0.0, value: $0.1) },
            payloadSize: request.body.count, connection: id, stream: Int(stream), isResend: ticket.resends > 0)
    }
}
