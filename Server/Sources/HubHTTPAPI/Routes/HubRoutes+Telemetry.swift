import HubProtocol
import Hummingbird
import PushHub
import ServiceErrors

/// What became of a send (Reference/AzureNotificationHubs.md#2-9).
extension HubRoutes {
    func answerTelemetry(_ call: HubCall) async throws -> Response {
        guard let id = call.route.id.flatMap({ NotificationID($0) }), let telemetry = try await call.hub().telemetry(of: id),
            var details = NotificationDetails(telemetry, location: call.location.member(id.text))
        else { throw ServiceError(.notFound, "There is no notification with this id") }
        // The file names devices and their tokens, as feedback and whole lists do: it takes the same right.
        if call.grant.allows(anyOf: [.manage]), let files = call.options.files, let served = call.served,
            try await served.hub.hasErrors(telemetry)
        {
            details.errorDetailsURL = call.links(files, served).link(toErrorsOf: id)
        }
        return HubAnswer.body(details.answer(), as: HubAnswer.xml, .telemetry)
    }
}
