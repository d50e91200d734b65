import RichPushModel

extension DeviceRecord {
    /// The most tags a client may give a record (Azure reference 3.1).
    public static let maximumTags = 60

    /// What expressions see: the record's own tags and those that address it (Azure reference 3.1).
    public var matchingTags: Set<Tag> {
        var all = Set(tags)
        if kind == .installation, let tag = Tag.addressing("$InstallationId:{\((parent ?? id).text)}") { all.insert(tag) }
        if kind == .installation, let userID, let tag = Tag.addressedUser(userID) { all.insert(tag) }
        return all
    }
}
