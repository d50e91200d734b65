import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import RichPushModel
import ServiceErrors

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
            let told = RegistrationDescription(record).details
            return details.allSatisfy { told[$0.property.rawValue].map($0.values.contains) ?? false }
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
        let platforms = filter.handle.property.platforms
        var handles: [DeviceHandle] = []
        var values = filter.handle.values
        if filter.handle.property == .baiduUserID {
            // An installation's handle has both ids in it.
            let channels = filter.details.filter { $0.property == .baiduChannelID }.flatMap(\.values)
            values += values.flatMap { user in channels.map { "\(user)-\($0)" } }
        }
        for value in values {
            // Any platform may be meant: Apple's spelling of the text and the text as it is.
            for platform in platforms ?? [.apns, .wns] {
                if let handle = DeviceHandle(value, platform: platform), !handles.contains(handle) { handles.append(handle) }
            }
        }
        return handles.isEmpty ? nil : .handles(handles, platform: platforms?.first)
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
