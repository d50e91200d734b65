import HubProtocol
import Hummingbird
import PushHub
import ServiceErrors

/// What became of a send (Reference/AzureNotificationHubs.md#2-9).
extension HubRoutes {
    func answerTelemetry(_ call: HubCall) async throws -> Response {
        guard let id = call.route.id.flatMap({ NotificationID($0) }), let telemetry = try await call.hub().telemetry(of: id),
            let details = NotificationDetails(telemetry, location: call.location.member(id.text), origin: call.origin)
        else { throw ServiceError(.notFound, "There is no notification with this id") }
        return HubAnswer.body(details.answer(), as: HubAnswer.xml, .telemetry)
    }
}
