import RichPushModel
import ServiceErrors

extension InstallationUpsert {
    /// Checks what the installation says; throws `ServiceError` (`invalid-field`) for what a hub does not keep.
    ///
    /// An expiry in the past is none of that: it is over at once, in no audience and soon swept. A phone whose clock is wrong
    /// sends such a one, and its library takes a refusal for final until the app's next start
    /// (Reference/AzureNotificationHubs.md#5-1).
    func checked(limits: HubRequestLimits = HubRequestLimits()) throws -> InstallationUpsert {
        var request = self
        request.tags = try DeviceCheck.tags(tags, limits)
        try DeviceCheck.installationID(id)
        if let handle { try DeviceCheck.handle(handle, platform) }
        try DeviceCheck.platform(platform)
        try DeviceCheck.words(environment: environment, topic: topic, userID: userID)
        try DeviceCheck.extras(pushVariables: pushVariables, details: details)
        request.templates = try checked(templates, limits)
        request.tiles = try checkedTiles(limits)
        let count = templates.count + tiles.values.reduce(0) { $0 + $1.templates.count + 1 }
        guard count <= Self.maximumTemplates else {
            throw ServiceError(.invalidField, "an installation has at most \(Self.maximumTemplates) templates and tiles")
        }
        return request
    }

    private func checkedTiles(_ limits: HubRequestLimits) throws -> [String: Tile] {
        try tiles.reduce(into: [:]) { result, entry in
            var tile = entry.value
            try DeviceCheck.templateName(entry.key)
            try DeviceCheck.handle(tile.handle, platform)
            tile.tags = try DeviceCheck.tags(tile.tags, limits)
            tile.templates = try checked(tile.templates, limits)
            result[entry.key] = tile
        }
    }

    private func checked(
        _ templates: [String: Template], _ limits: HubRequestLimits
    ) throws -> [String: Template] {
        try templates.reduce(into: [:]) { result, entry in
            var template = entry.value
            template.template.name = entry.key
            try DeviceCheck.template(template.template, platform)
            template.tags = try DeviceCheck.tags(template.tags, limits)
            result[entry.key] = template
        }
    }
}
