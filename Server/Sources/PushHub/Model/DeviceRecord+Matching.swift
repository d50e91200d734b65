import RichPushModel

extension DeviceRecord {
    /// The installation that the record is, or belongs to.
    public var installation: RecordID? { kind == .installation ? parent ?? id : nil }

    /// The tile of the installation that the record belongs to.
    public var tile: String? { parent == nil ? nil : details[Self.tileDetail] }

    /// The name under which the details hold the tile, as on the wire.
    public static let tileDetail = "SecondaryTileName"

    /// Whether a send of that format means the record.
    public func isTarget(of format: SendFormat) -> Bool {
        switch format {
        case .native(let platform): template == nil && platform == self.platform
        case .template: template != nil
        }
    }

    /// What expressions see: the record's own tags and those that address it (Reference/AzureNotificationHubs.md#3-1).
    public var matchingTags: Set<Tag> {
        var all = Set(tags)
        if kind == .installation, let tag = Tag.addressedInstallation((parent ?? id).text) { all.insert(tag) }
        if kind == .installation, let userID, let tag = Tag.addressedUser(userID) { all.insert(tag) }
        return all
    }
}
