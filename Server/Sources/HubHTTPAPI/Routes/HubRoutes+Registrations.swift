import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import ServiceErrors
import WireText

/// Registrations one by one (Reference/AzureNotificationHubs.md#2-2 to #2-4).
extension HubRoutes {
    func answerRegistration(_ call: HubCall) async throws -> Response {
        let hub = try call.hub()
        switch call.route.operation {
        case .createRegistrationID:
            // The id is a name only; whatever id comes back later is taken, for ever.
            return HubAnswer.empty(.createRegistrationID, headers: [.location: call.location.member(RegistrationName.random())])
        case .createRegistration:
            let id = RegistrationName.randomID()
            return Self.entry(try await store(call, hub, id: id, precondition: .none), call)
        case .putRegistration:
            return Self.entry(try await store(call, hub, id: try call.recordID(), precondition: call.ifMatch.precondition), call)
        case .deleteRegistration:
            try await remove(call, hub)
            return HubAnswer.empty(.deleteRegistration)
        default:
            guard let id = call.route.id.flatMap({ RecordID($0) }), let record = try await hub.device(id) else {
                throw Self.unknownRegistration
            }
            return Self.entry(record, call)
        }
    }

    static let unknownRegistration = ServiceError(.notFound, "There is no registration with this id")

    private func store(
        _ call: HubCall, _ hub: NotificationHub, id: RecordID, precondition: DevicePrecondition
    ) async throws -> DeviceRecord {
        try writes.admit(hub.id)
        let body = try await call.body(limit: XMLLimits.request.bytes)
        let request = try RegistrationDescription.read(entry: body).upsert(id: id, precondition: precondition)
        try call.checkTags(request.tags)
        return try await hub.upsert(request, allowing: call.replacementCheck)
    }

    private func remove(_ call: HubCall, _ hub: NotificationHub) async throws {
        try writes.admit(hub.id)
        guard let id = call.route.id.flatMap({ RecordID($0) }) else { throw Self.unknownRegistration }
        let wasThere = try await hub.removeDevice(
            id, expecting: call.ifMatch.precondition, allowing: call.replacementCheck)
        // A record of an installation may have gone with it a moment ago, in the same clean-up of one handle.
        guard wasThere || id.isDerived else { throw Self.unknownRegistration }
    }

    private static func entry(_ record: DeviceRecord, _ call: HubCall) -> Response {
        let location = call.location
        return HubAnswer.body(
            RegistrationEntry(record, for: call).answer(at: location, omitsSingleHeader: call.omitsSingleHeader),
            as: HubAnswer.entry,
            call.route.operation,
            headers: [.eTag: IfMatch.header(of: record.version), .contentLocation: location.member(record.id.text)])
    }
}

/// Names for registrations that have none yet.
enum RegistrationName {
    /// Two random numbers of 63 bits and a 1: the shape that clients have seen (Reference/AzureNotificationHubs.md#2-1).
    static func random() -> String { "\(number())-\(number())-1" }

    /// The same as an id of the hub.
    static func randomID() -> RecordID {
        guard let id = RecordID(random()) else { preconditionFailure("digits and hyphens are an id") }
        return id
    }

    private static func number() -> Int64 { Int64.random(in: 0...(.max)) }
}
