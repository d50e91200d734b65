import WireText

/// What one operation does to a value, a list of tags or a template.
struct PatchChange {
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

    /// Changes a template in a list of them.
    func apply(
        to templates: inout [InstallationTemplate], _ name: String, _ part: PatchPath.TemplatePart
    ) throws(HubRequestFault) {
        let index = templates.firstIndex { $0.name == name }
        if part == .whole {
            let template = try objectOrRemoval().map { json throws(HubRequestFault) in
                try InstallationTemplate(name: name, json: json, limits: limits)
            }
            if let template, let index {
                templates[index] = template
            } else if let template {
                templates.append(template)
            } else if let index {
                templates.remove(at: index)
            }
            return
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
