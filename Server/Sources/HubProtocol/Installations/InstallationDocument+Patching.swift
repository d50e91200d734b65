import RichPushModel

extension InstallationDocument {
    /// Applies one operation (Reference/AzureNotificationHubs.md#5-2). Removing what is absent is no error.
    mutating func apply(_ operation: InstallationPatch.Operation, _ limits: HubLimits) throws(HubRequestFault) {
        guard let path = PatchPath(operation.path) else { throw HubRequestFault(at: "", "no operation has such a path") }
        let change = PatchChange(operation, limits: limits)
        switch path {
        case .pushChannel:
            guard let value = try change.valueOrRemoval() else {
                throw HubRequestFault(at: "", "the push channel cannot be removed; delete the installation instead")
            }
            pushChannel = try channel(value, limits)
            // A new channel is not the one that the push service rejected.
            pushChannelExpired = nil
        case .userID: userID = try change.valueOrRemoval()
        case .expirationTime:
            expirationTime = try change.valueOrRemoval().flatMap { text throws(HubRequestFault) in
                try Self.expiration(.string(text))
            }
        case .tags: tags = try change.tags(tags)
        case .tag(let tag): tags = try change.removing(tag, from: tags)
        case .template(let name, let part): try change.apply(to: &templates, name, part)
        case .tile(let name, let part): try apply(change, name, part, limits)
        }
    }

    /// A browser's channel stays in the spelling in which the installation was registered.
    private func channel(_ text: String, _ limits: HubLimits) throws(HubRequestFault) -> PushChannel {
        let new = try PushChannel(.string(text), isBrowser: platform.rawValue == "browser", limits: limits)
        guard case .browser(var channel) = new, case .browser(let old) = pushChannel else { return new }
        channel.isObject = old.isObject
        return .browser(channel)
    }

    private mutating func apply(
        _ change: PatchChange, _ name: String, _ part: PatchPath.TilePart, _ limits: HubLimits
    ) throws(HubRequestFault) {
        let index = secondaryTiles.firstIndex { $0.name == name }
        if part == .whole {
            let tile = try change.objectOrRemoval().map { json throws(HubRequestFault) in
                try SecondaryTile(name: name, json: json, limits: limits)
            }
            if let tile, let index {
                secondaryTiles[index] = tile
            } else if let tile {
                secondaryTiles.append(tile)
            } else if let index {
                secondaryTiles.remove(at: index)
            }
            return
        }
        guard let index else {
            if change.isRemoval { return }
            throw HubRequestFault(at: "", "there is no such secondary tile; add it whole first")
        }
        switch part {
        case .whole: break
        case .pushChannel:
            guard let value = try change.valueOrRemoval() else {
                throw HubRequestFault(at: "", "the push channel cannot be removed; remove the tile instead")
            }
            secondaryTiles[index].pushChannel = try PushChannel(.string(value), isBrowser: false, limits: limits).handle
            secondaryTiles[index].pushChannelExpired = nil
        case .tags: secondaryTiles[index].tags = try change.tags(secondaryTiles[index].tags)
        case .tag(let tag): secondaryTiles[index].tags = try change.removing(tag, from: secondaryTiles[index].tags)
        case .template(let template, let inner): try change.apply(to: &secondaryTiles[index].templates, template, inner)
        }
    }
}
