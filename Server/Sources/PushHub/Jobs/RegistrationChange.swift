import RichPushModel
import ServiceErrors

/// What a line of an import asks for.
public enum RegistrationChange: Hashable, Sendable {
    case put(DeviceUpsert)
    /// Adds what the line says to the installation that it belongs to.
    case merge(InstallationPart)
    case remove(RecordID, expecting: DevicePrecondition)
}

/// What one line of an import says of an installation: an export has a line for its native registration and one for each template.
public struct InstallationPart: Hashable, Sendable {
    /// Marks installations that came by import alone, among their details. The first `PUT` of the app removes it.
    public static let mark = "Imported"

    /// What the line says; at most one template. Without one the line is the native registration, which alone has the tags and
    /// variables of the installation.
    public var content: InstallationUpsert
    /// Whether the installation has to be there already.
    public var mustExist: Bool
    var limits = HubRequestLimits()

    /// Creates a part.
    public init(_ content: InstallationUpsert, mustExist: Bool) {
        self.content = content
        self.mustExist = mustExist
    }

    /// The installation with this part, checked. Throws `conflict` when the app has registered here itself: what it says is newer than
    /// an export. Throws `not-found` and `invalid-field` as well.
    public func merged(into stored: InstallationUpsert?) throws -> InstallationUpsert {
        if mustExist, stored == nil { throw ServiceError(.notFound, "there is no such installation") }
        guard stored == nil || stored?.details[Self.mark] != nil else {
            throw ServiceError(.conflict, "the app has registered this installation here already")
        }
        var result = stored ?? content
        if content.templates.isEmpty {
            (result.tags, result.pushVariables, result.details) = (content.tags, content.pushVariables, content.details)
        }
        (result.platform, result.handle) = (content.platform, content.handle)
        result.userID = content.userID ?? result.userID
        result.expiresAt = content.expiresAt ?? result.expiresAt
        result.templates.merge(content.templates) { $1 }
        // A line of a template has the tags of the installation as well.
        for name in result.templates.keys { result.templates[name]?.tags.removeAll { result.tags.contains($0) } }
        result.details[Self.mark] = "true"
        result.confirmsHandle = true
        return try result.checked(limits: limits)
    }
}
