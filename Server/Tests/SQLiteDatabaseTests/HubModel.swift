import RichPushModel
import TagExpressions

@testable import PushHub

/// What a hub must know after any sequence of changes, as simply as it can be said: a dictionary of targets.
struct HubModel {
    /// One target.
    struct Row: Hashable {
        var id: RecordID
        var parent: RecordID?
        var isInstallation: Bool
        var platform: Platform
        var handle: DeviceToken?
        /// All that an expression sees.
        var tags: Set<Tag>
        var template: DeviceTemplate?
        var version: Int64
        var isInactive = false

        var key: SliceKey { SliceKey(of: id) }

        /// What no two pushes of one send have in common.
        var place: String { "\(platform.rawValue) \(handle?.text ?? "") \(template.map { $0.name ?? "=" + $0.body } ?? "")" }
    }

    private(set) var rows: [RecordID: Row] = [:]
    private(set) var installations: [RecordID: InstallationUpsert] = [:]

    // Changes

    mutating func upsert(_ request: DeviceUpsert) {
        rows[request.id] = Row(
            id: request.id, isInstallation: false, platform: request.platform, handle: request.handle, tags: Set(request.tags),
            template: request.template, version: (rows[request.id]?.version ?? 0) + 1)
    }

    mutating func put(_ content: InstallationUpsert, keepsInactive: Bool = false) {
        let old = rows[content.id]
        let isInactive = keepsInactive && old?.isInactive == true && old?.handle == content.handle
        remove(content.id)
        installations[content.id] = content
        var tags = Set(content.tags)
        tags.insert(Tag.addressing("$InstallationId:{\(content.id.text)}")!)
        if let user = content.userID { tags.insert(Tag.addressing("$UserId:{\(user)}")!) }
        let native = Row(
            id: content.id, isInstallation: true, platform: content.platform, handle: content.handle, tags: tags,
            version: (old?.version ?? 0) + 1, isInactive: isInactive)
        rows[content.id] = native
        for (name, template) in content.templates {
            var row = native
            row.id = .derived(from: content.id, tile: nil, template: name)
            row.parent = content.id
            row.template = template.template
            row.template?.name = name
            row.tags.formUnion(template.tags + [Tag(name)!])
            rows[row.id] = row
        }
    }

    /// Removes a target; with an installation all that belongs to it.
    mutating func remove(_ id: RecordID) {
        guard let row = rows.removeValue(forKey: id) else { return }
        if let parent = row.parent, let name = row.template?.name { installations[parent]?.templates[name] = nil }
        guard row.isInstallation, row.parent == nil else { return }
        installations[id] = nil
        rows = rows.filter { $0.value.parent != id }
    }

    // Questions

    func meant(_ audience: TagExpression?, _ format: SendFormat) -> [Row] {
        rows.values.filter { row in
            let isKind =
                switch format {
                case .native(let platform): row.template == nil && row.platform == platform
                case .template: row.template != nil
                }
            return isKind && row.handle != nil && !row.isInactive && (audience?.matches(row.tags) ?? true)
        }
    }

    /// Of several targets at one place the lowest is sent to; the rest, and other platforms, are skipped.
    func sent(_ meant: [Row]) -> [Row] {
        Dictionary(grouping: meant.filter { $0.platform == .apns }, by: \.place).values.compactMap { $0.min { $0.key < $1.key } }
    }

    // What push services say

    mutating func gone(_ handle: DeviceToken) {
        for row in rows.values where row.platform == .apns && row.handle == handle { remove(row.parent ?? row.id) }
    }

    mutating func bad(_ sent: Row) {
        let family = sent.isInstallation ? sent.parent ?? sent.id : sent.id
        for (id, row) in rows where id == family || (sent.isInstallation && row.parent == family) { rows[id]?.isInactive = true }
    }
}
