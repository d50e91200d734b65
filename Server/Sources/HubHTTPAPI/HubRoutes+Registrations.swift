import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors
import WireText

/// Registrations one by one (Reference/AzureNotificationHubs.md#2-2 to #2-4).
extension HubRoutes {
    func answerRegistration(_ call: HubCall) async throws -> Response {
        let hub = try call.hub()
        switch call.route.operation {
        case .createRegistrationID:
            // The id is not stored: any id is accepted later, without a time limit.
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
            guard let id = call.route.id.flatMap({ RecordID($0) }), let record = try await hub.device(id),
                !record.platform.isTokenKind
            else {
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

/// Lists of registrations (Reference/AzureNotificationHubs.md#2-5).
extension HubRoutes {
    /// Pages that a `$skip` may leave out.
    private static let maximumSkip = 10_000

    func answerList(_ call: HubCall) async throws -> Response {
        let hub = try call.hub()
        let query = try ListQuery(call.query, limits: call.limits)
        guard let selection = try Self.selection(call, query.filter) else { return Self.feed([], next: nil, call) }
        if case .all = selection, !call.grant.allows(anyOf: [.manage]) {
            throw ServiceError(.forbidden, "Manage claim is required for this operation")
        }
        var after = query.continuation?.key.map { SliceKey($0) } ?? .beforeAll
        if query.skip > 0 {
            guard query.skip <= Self.maximumSkip else {
                throw ServiceError(
                    .invalidField, "$skip is at most \(Self.maximumSkip); go on with the continuation token instead")
            }
            guard let key = try await key(after: after, skipping: query.skip, of: selection, hub) else {
                return Self.feed([], next: nil, call)
            }
            after = key
        }
        let page = try await hub.devices(DeviceListRequest(selection, after: after, limit: query.top))
        let details = query.filter?.details ?? []
        let records = page.records.filter { record in
            let values = RegistrationDescription(record).details
            return details.allSatisfy { values[$0.property.rawValue].map($0.values.contains) ?? false }
        }
        return Self.feed(records, next: page.next, call)
    }

    /// Which records are meant; `nil` when a text cannot be a tag or a handle, so that no record has it.
    private static func selection(
        _ call: HubCall, _ filter: RegistrationFilter?
    ) throws(ServiceError) -> DeviceListRequest.Selection? {
        if call.route.operation == .registrationsByTag {
            return call.route.id.flatMap { Tag.stored($0) }.map { .tag($0) }
        }
        guard let filter else { return .all }
        let platform = filter.handle.property.platform
        var handles: [DeviceToken] = []
        var values = filter.handle.values
        if filter.handle.property == .baiduUserID {
            // An installation's handle has both ids in it.
            let channels = filter.details.filter { $0.property == .baiduChannelID }.flatMap(\.values)
            values += values.flatMap { user in channels.map { "\(user)-\($0)" } }
        }
        for value in values {
            // Any platform may be meant: Apple's spelling of the text and the text as it is.
            for platform in platform.map({ [$0] }) ?? [.apns, .wns] {
                if let handle = DeviceToken(value, platform: platform), !handles.contains(handle) { handles.append(handle) }
            }
        }
        return handles.isEmpty ? nil : .handles(handles, platform: platform)
    }

    private func key(
        after start: SliceKey, skipping count: Int, of selection: DeviceListRequest.Selection, _ hub: NotificationHub
    ) async throws -> SliceKey? {
        var left = count
        var after = start
        while left > 0 {
            var request = DeviceListRequest(selection, after: after, limit: min(left, DeviceListRequest.maximumLimit))
            request.readsTemplates = false
            let page = try await hub.devices(request)
            guard let next = page.next else { return nil }
            left -= page.records.count
            after = next
        }
        return after
    }

    private static func feed(_ records: [DeviceRecord], next: SliceKey?, _ call: HubCall) -> Response {
        var headers: HTTPFields = [:]
        if let next { headers[.continuationToken] = ContinuationToken(key: next.number).text }
        // Entries lie where registrations lie, also those of a list by tag.
        var route = call.route
        if route.operation == .registrationsByTag { route.collectionSpelling = "registrations" }
        let location = call.location(of: route)
        let feed = RegistrationEntry.feed(
            records.map { RegistrationEntry($0, for: call) }, at: location, updated: call.now,
            omitsSingleHeader: call.omitsSingleHeader)
        return HubAnswer.body(feed, as: HubAnswer.feed, call.route.operation, headers: headers)
    }
}

extension IfMatch? {
    /// The condition in the hub's words. A text that is no version matches none.
    var precondition: DevicePrecondition {
        switch self {
        case nil: .none
        case .any: .exists
        case .some(let tag): .version(tag.version ?? -1)
        }
    }
}

extension RegistrationEntry {
    /// The entry of a stored record, for the client of a call.
    init(_ record: DeviceRecord, for call: HubCall) {
        self.init(
            RegistrationDescription(record, omitsOddAddresses: call.omitsOddAddresses), published: record.createdAt,
            updated: record.registeredAt)
    }
}
