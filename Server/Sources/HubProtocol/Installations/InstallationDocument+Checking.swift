import RichPushModel

extension InstallationDocument {
    /// Checks every bound, and takes away the special tags that name this installation and its user: the server adds them
    /// itself. Special tags of others are refused: whoever sets one would receive what is meant for another.
    mutating func settle(_ limits: HubLimits) throws(HubRequestFault) {
        try Self.check(identifier: installationID, at: "installationId", limits)
        if let userID { try Self.check(identifier: userID, at: "userId", limits) }
        try TagList.check(tags, limits)
        tags = try settled(tags)
        for index in templates.indices {
            do { templates[index].tags = try settled(templates[index].tags) } catch {
                throw error.within(place(templates[index]))
            }
        }
        for index in secondaryTiles.indices {
            do {
                secondaryTiles[index].tags = try settled(secondaryTiles[index].tags)
                for inner in secondaryTiles[index].templates.indices {
                    secondaryTiles[index].templates[inner].tags = try settled(secondaryTiles[index].templates[inner].tags)
                }
            } catch { throw error.within("secondaryTiles." + HubRequestFault.shown(secondaryTiles[index].name)) }
        }
        try checkVariables(limits)
    }

    /// Checks the bounds of everything, after changes.
    mutating func recheck(_ limits: HubLimits) throws(HubRequestFault) {
        try Self.check(templates, limits)
        guard secondaryTiles.count <= limits.secondaryTiles else {
            throw HubRequestFault(at: "secondaryTiles", "there are more than \(limits.secondaryTiles)")
        }
        for tile in secondaryTiles {
            do { try tile.check(limits) } catch { throw error.within("secondaryTiles." + HubRequestFault.shown(tile.name)) }
        }
        try settle(limits)
    }

    static func check(_ templates: [InstallationTemplate], _ limits: HubLimits) throws(HubRequestFault) {
        guard templates.count <= limits.templates else {
            throw HubRequestFault(at: "templates", "there are more than \(limits.templates)")
        }
        for template in templates {
            do { try template.check(limits) } catch { throw error.within("templates." + HubRequestFault.shown(template.name)) }
        }
    }

    private func place(_ template: InstallationTemplate) -> String { "templates." + HubRequestFault.shown(template.name) }

    private func settled(_ tags: [String]) throws(HubRequestFault) -> [String] {
        var kept: [String] = []
        for (index, tag) in tags.enumerated() {
            guard tag.hasPrefix("$") else {
                kept.append(tag)
                continue
            }
            let special = Tag.addressing(tag)
            let own = [Tag.addressedInstallation(installationID), userID.flatMap(Tag.addressedUser)]
            guard let special, own.contains(special) else {
                throw HubRequestFault(at: "tags[\(index)]", "the tag names another installation or user")
            }
        }
        return kept
    }

    private func checkVariables(_ limits: HubLimits) throws(HubRequestFault) {
        guard pushVariables.count <= limits.pushVariables else {
            throw HubRequestFault(at: "pushVariables", "there are more than \(limits.pushVariables)")
        }
        for (name, value) in pushVariables
        where !(1...limits.propertyNameLength).contains(name.unicodeScalars.count) || value.utf8.count > limits.valueBytes {
            throw HubRequestFault(
                at: "pushVariables." + HubRequestFault.shown(name),
                "a name has 1 to \(limits.propertyNameLength) characters, a value at most \(limits.valueBytes) bytes")
        }
    }

    private static func check(identifier: String, at place: String, _ limits: HubLimits) throws(HubRequestFault) {
        guard identifier.utf8.count <= limits.identifierBytes else {
            throw HubRequestFault(at: place, "it has more than \(limits.identifierBytes) bytes")
        }
        // Whom no tag expression can name, no send could reach.
        guard Tag.addressedUser(identifier) != nil else {
            throw HubRequestFault(at: place, "it has 1 to 256 characters, none of them } or a control character")
        }
        if place == "installationId", identifier.contains(where: { "/?# ".contains($0) }) {
            throw HubRequestFault(at: place, "it has none of / ? # and blanks")
        }
    }
}
