import RichPushModel
import WireText

/// The body of a PATCH on an installation (Reference/AzureNotificationHubs.md#5-2): operations that apply in order, all or none.
public struct InstallationPatch: Hashable, Sendable {
    /// The kinds of change.
    public enum Operator: String, Sendable, CaseIterable {
        case add, replace, remove
    }

    /// One change.
    public struct Operation: Hashable, Sendable {
        public var op: Operator
        /// As the client wrote it: segments behind slashes, `~1` for `/` and `~0` for `~` inside them.
        public var path: String
        /// Always a text: lists and objects are JSON inside it. Absent for removals.
        public var value: String?

        public init(_ op: Operator, _ path: String, _ value: String? = nil) {
            self.op = op
            self.path = path
            self.value = value
        }
    }

    public var operations: [Operation]

    public init(_ operations: [Operation]) { self.operations = operations }

    /// Reads a body. A list or an object that stands as itself in `value` is taken as its text.
    public init(parsing body: some Collection<UInt8>, limits: HubLimits = HubLimits()) throws(HubRequestFault) {
        guard body.count <= limits.installationBytes else {
            throw HubRequestFault(.tooLarge, at: "body", "a patch has at most \(limits.installationBytes) bytes")
        }
        guard case .array(let elements) = try WireJSON(parsing: body) else {
            throw HubRequestFault(at: "body", "a JSON array of operations is expected")
        }
        guard elements.count <= limits.patchOperations else {
            throw HubRequestFault(at: "body", "there are more than \(limits.patchOperations) operations")
        }
        var operations: [Operation] = []
        for (index, element) in elements.enumerated() {
            do { operations.append(try Self.operation(element)) } catch {
                throw error.within("operation \(index + 1)", separator: ", ")
            }
        }
        self.init(operations)
    }

    /// The body as this product's client sends it.
    public var json: String {
        WireJSON.array(
            operations.map { operation in
                var members = [
                    WireJSON.Member("op", .string(operation.op.rawValue)), WireJSON.Member("path", .string(operation.path)),
                ]
                if let value = operation.value { members.append(.init("value", .string(value))) }
                return .object(members)
            }
        ).text
    }

    private static func operation(_ json: WireJSON) throws(HubRequestFault) -> Operation {
        guard case .object = json else { throw HubRequestFault(at: "", "an object with op, path and value is expected") }
        guard case .string(let word)? = json["op"], let op = Operator(rawValue: word.lowercased()) else {
            throw HubRequestFault(at: "op", "it is add, replace or remove")
        }
        guard case .string(let path)? = json["path"] else { throw HubRequestFault(at: "path", "a text is expected") }
        let value = json["value"].map { $0.scalarText ?? $0.text }
        guard op == .remove || value != nil else {
            throw HubRequestFault(at: HubRequestFault.shown(path), "\(op.rawValue) needs a value")
        }
        return Operation(op, path, value)
    }

    /// Whether it says where the installation is reached, be it as before: then the channel is good now.
    public var setsChannel: Bool { operations.contains { $0.op != .remove && PatchPath($0.path) == .pushChannel } }

    /// The installation with every operation applied; the argument stays as it was when one fails. The fault names the operation,
    /// counted from 1, and its path.
    public func applied(
        to installation: InstallationDocument, limits: HubLimits = HubLimits()
    ) throws(HubRequestFault) -> InstallationDocument {
        var result = installation
        for (index, operation) in operations.enumerated() {
            do { try result.apply(operation, limits) } catch {
                let place = "operation \(index + 1), \(HubRequestFault.shown(operation.path))"
                throw HubRequestFault(error.kind, at: error.place.isEmpty ? place : "\(place), \(error.place)", error.reason)
            }
        }
        do { try result.recheck(limits) } catch { throw error.within("after the operations", separator: ", ") }
        return result
    }
}

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
            return PatchChange.put(tile, at: index, in: &secondaryTiles)
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

/// What one operation does to a value, a list of tags or a template.
private struct PatchChange {
    let isRemoval: Bool
    private let op: InstallationPatch.Operator
    private let value: String?
    private let limits: HubLimits

    init(_ operation: InstallationPatch.Operation, limits: HubLimits) {
        op = operation.op
        isRemoval = operation.op == .remove
        value = operation.value
        self.limits = limits
    }

    /// The new value; `nil` for a removal.
    func valueOrRemoval() throws(HubRequestFault) -> String? {
        if isRemoval { return nil }
        guard let value, !value.isEmpty else { throw HubRequestFault(at: "value", "it is empty") }
        return value
    }

    /// The new value as an object; `nil` for a removal.
    func objectOrRemoval() throws(HubRequestFault) -> WireJSON? {
        guard let text = try valueOrRemoval() else { return nil }
        let json: WireJSON
        do { json = try WireJSON(parsing: text.utf8) } catch { throw error.within("value", separator: ", ") }
        guard case .object = json else { throw HubRequestFault(at: "value", "the text of a JSON object is expected") }
        return json
    }

    /// The list after an addition of one tag or several, a replacement of all, or the removal of all.
    func tags(_ tags: [String], ownName: String? = nil) throws(HubRequestFault) -> [String] {
        guard let text = try valueOrRemoval() else { return [] }
        var given = [text]
        if text.trimmingBlanks.hasPrefix("[") {
            let json: WireJSON
            do { json = try WireJSON(parsing: text.utf8) } catch { throw error.within("value", separator: ", ") }
            given = try TagList.read(json)
        }
        let result = TagList.merged(op == .add ? tags : [], given, ownName: ownName)
        try TagList.check(result, limits)
        return result
    }

    /// The list without a tag, which only `remove` may name in the path.
    func removing(_ tag: String, from tags: [String]) throws(HubRequestFault) -> [String] {
        guard isRemoval else {
            throw HubRequestFault(at: "", "a single tag in the path can only be removed; \(op.rawValue) /tags instead")
        }
        return tags.filter { $0.lowercased() != tag.lowercased() }
    }

    /// Puts an element in the place of the old one, or at the end; without an element the old one goes.
    static func put<Element>(_ element: Element?, at index: Int?, in list: inout [Element]) {
        if let index { list.remove(at: index) }
        if let element { list.insert(element, at: index ?? list.endIndex) }
    }

    /// Changes a template in a list of them.
    func apply(
        to templates: inout [InstallationTemplate], _ name: String, _ part: PatchPath.TemplatePart
    ) throws(HubRequestFault) {
        let index = templates.firstIndex { $0.name == name }
        if part == .whole {
            let template = try objectOrRemoval().map { json throws(HubRequestFault) in
                try InstallationTemplate(name: name, json: json, limits: limits)
            }
            return Self.put(template, at: index, in: &templates)
        }
        guard let index else {
            if isRemoval { return }
            throw HubRequestFault(at: "", "there is no such template; add it whole first")
        }
        try apply(to: &templates[index], part)
        try templates[index].check(limits)
    }

    private func apply(to template: inout InstallationTemplate, _ part: PatchPath.TemplatePart) throws(HubRequestFault) {
        switch part {
        case .whole: break
        case .body:
            guard let body = try valueOrRemoval() else {
                throw HubRequestFault(at: "", "a template cannot be without a body; remove the template instead")
            }
            template.body = body
        case .headers: template.headers = try objectOrRemoval().map { InstallationTemplate.headers($0) }?.get() ?? []
        case .expiry: template.expiry = try valueOrRemoval()
        case .tags: template.tags = try tags(template.tags, ownName: template.name)
        case .tag(let tag): template.tags = try removing(tag, from: template.tags)
        }
    }
}

/// The place that an operation names (Reference/AzureNotificationHubs.md#5-2). The fixed words match without regard to case,
/// names literally.
private enum PatchPath: Hashable {
    case pushChannel
    case userID
    case expirationTime
    case tags
    case tag(String)
    case template(String, TemplatePart)
    case tile(String, TilePart)

    /// What of a template.
    enum TemplatePart: Hashable {
        case whole, body, headers, expiry, tags
        case tag(String)
    }

    /// What of a secondary tile.
    enum TilePart: Hashable {
        case whole, pushChannel, tags
        case tag(String)
        case template(String, TemplatePart)
    }

    /// Reads a path; `nil` when the table has no such one, as the whole of `/templates` or `/secondaryTiles`.
    init?(_ text: String) {
        guard text.first == "/" else { return nil }
        var segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Self.unescaped)
        if segments.count > 1, segments.last == "" { segments.removeLast() }
        guard !segments.contains("") else { return nil }
        let word = segments[0].lowercased()
        switch (word, segments.count) {
        case ("pushchannel", 1): self = .pushChannel
        case ("userid", 1): self = .userID
        case ("expirationtime", 1): self = .expirationTime
        case ("tags", 1): self = .tags
        case ("tags", 2): self = .tag(segments[1])
        case ("templates", 2...):
            guard let part = Self.templatePart(segments.dropFirst(2)) else { return nil }
            self = .template(segments[1], part)
        case ("secondarytiles", 2...):
            guard let part = Self.tilePart(segments.dropFirst(2)) else { return nil }
            self = .tile(segments[1], part)
        default: return nil
        }
    }

    private static func templatePart(_ segments: ArraySlice<String>) -> TemplatePart? {
        switch (segments.first?.lowercased(), segments.count) {
        case (nil, _): .whole
        case ("body", 1): .body
        case ("headers", 1): .headers
        case ("expiry", 1): .expiry
        case ("tags", 1): .tags
        case ("tags", 2): segments.last.map(TemplatePart.tag)
        default: nil
        }
    }

    private static func tilePart(_ segments: ArraySlice<String>) -> TilePart? {
        switch (segments.first?.lowercased(), segments.count) {
        case (nil, _): .whole
        case ("pushchannel", 1): .pushChannel
        case ("tags", 1): .tags
        case ("tags", 2): segments.last.map(TilePart.tag)
        case ("templates", 2...):
            templatePart(segments.dropFirst(2)).flatMap { part in
                segments.dropFirst().first.map { .template($0, part) }
            }
        default: nil
        }
    }

    /// `~1` is `/`, `~0` is `~`; any other tilde is itself.
    private static func unescaped(_ segment: Substring) -> String {
        var result = String.UnicodeScalarView()
        var isTilde = false
        for scalar in segment.unicodeScalars {
            if isTilde {
                isTilde = false
                if scalar == "0" || scalar == "1" {
                    result.append(scalar == "0" ? "~" : "/")
                    continue
                }
                result.append("~")
            }
            if scalar == "~" { isTilde = true } else { result.append(scalar) }
        }
        if isTilde { result.append("~") }
        return String(result)
    }
}
