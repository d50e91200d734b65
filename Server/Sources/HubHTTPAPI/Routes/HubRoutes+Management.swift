import HTTPTypes
import HubProtocol
import Hummingbird
import PushHub
import ServiceErrors
import SharedAccess
import WireText

/// Hubs as such, as the namespace managers of two clients use them (Reference/AzureNotificationHubs.md#2-13).
extension HubRoutes {
    /// The most hubs of a list: `$top` and `$skip` are all there is of paging (Reference/AzureNotificationHubs.md#2-13).
    private static let maximumList = 10_000

    func answerManagement(_ call: HubCall) async throws -> Response {
        switch call.route.operation {
        case .hubs: return try await list(call)
        case .putHub: return try await put(call)
        case .deleteHub:
            try await directory.registry.remove(try HubRegistry.name(call.route.hub))
            directory.catalog.forget()
            return HubAnswer.empty(.deleteHub)
        default:
            guard let served = call.served else {
                // Not a 404: from just this feed one client concludes that there is no such hub.
                return HubAnswer.body(
                    HubEntry.unknownHub(at: call.location, updated: call.now), as: HubAnswer.feed, .hub)
            }
            return Self.entry(served.record, rules: served.rules, call)
        }
    }

    private func put(_ call: HubCall) async throws -> Response {
        let name = try HubRegistry.name(call.route.hub)
        let body = try await call.body(limit: XMLLimits.request.bytes)
        let description = try HubDescription.read(entry: body)
        let registry = directory.registry
        defer { directory.catalog.forget() }
        guard call.ifMatch != nil else {
            let record = try await registry.create(name, try description.definition())
            var response = Self.entry(record, rules: try await registry.rules(of: name), call)
            response.status = .init(code: HubOperation.createdHubStatus)
            return response
        }
        guard let record = try await registry.hub(named: name) else {
            throw ServiceError(.notFound, "There is no hub with this name")
        }
        let changed = try await registry.update(
            name, with: try description.change(of: record, rules: try await registry.rules(of: name)))
        return Self.entry(changed, rules: try await registry.rules(of: name), call)
    }

    private func list(_ call: HubCall) async throws -> Response {
        var limits = call.limits
        limits.pageSize = Self.maximumList
        let query = try ListQuery(call.query, limits: limits)
        var entries: [HubEntry] = []
        var (left, last) = (query.skip, HubName?.none)
        repeat {
            let page = try await directory.registry.hubs(after: last)
            for record in page.dropFirst(left).prefix(query.top - entries.count) {
                entries.append(HubEntry(record, rules: try await directory.registry.rules(of: record.name), showsKeys: true))
            }
            left -= min(left, page.count)
            last = page.count == HubRegistry.maximumPage ? page.last?.name : nil
        } while last != nil && entries.count < query.top
        return HubAnswer.body(HubEntry.feed(entries, at: call.location, updated: call.now), as: HubAnswer.feed, .hubs)
    }

    private static func entry(_ record: HubRecord, rules: [AccessRule], _ call: HubCall) -> Response {
        let entry = HubEntry(record, rules: rules, showsKeys: call.isForAllHubs)
        return HubAnswer.body(entry.answer(at: call.location), as: HubAnswer.entry, call.route.operation)
    }
}
