import HubProtocol
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Registrations as lines of XML and feedback as documents, as the protocol has them in files
/// (Reference/AzureNotificationHubs.md#2-11 and #2-12).
public struct RegistrationFileFormat: HubFileFormat {
    public init() {}

    public func line(for record: DeviceRecord) -> String { RegistrationLines.line(RegistrationDescription(record)) }

    public func line(forRemoved id: RecordID) -> String { RegistrationLines.line(naming: id.text) }

    public func line(failed line: [UInt8]?, number: Int, reason: String) -> String {
        RegistrationLines.line(line, remark: "line \(number): \(reason)")
    }

    public func change(in line: [UInt8], for kind: HubJob.Kind) throws -> RegistrationChange? {
        do {
            return try Self.change(in: line, kind)
        } catch let fault as HubDocumentError {
            if fault.isEmpty { return nil }
            throw ServiceError(.invalidField, fault.description)
        }
    }

    public func document(for feedback: DeviceFeedback) -> String {
        PnsFeedback(SendError(feedback), of: feedback.notification).document()
    }

    private static func change(in line: [UInt8], _ kind: HubJob.Kind) throws -> RegistrationChange {
        if kind == .importDelete { return .remove(try id(try RegistrationLines.readID(line)), expecting: .exists) }
        let description = try RegistrationLines.read(line)
        if description.tags.contains(where: { $0.hasPrefix("$") }) {
            return .merge(InstallationPart(try installation(description), mustExist: kind == .importUpdate))
        }
        if description.registrationID == nil, kind == .importUpdate {
            throw ServiceError(.invalidField, "the line has no RegistrationId")
        }
        let id = try description.registrationID.map(id) ?? RegistrationName.randomID()
        var request = try description.upsert(id: id, precondition: precondition(kind))
        request.expiresAt = description.expirationTime
        return .put(request)
    }

    /// What a line whose tags name an installation says of it (Reference/AzureNotificationHubs.md#3-1). Throws `invalid-field`.
    private static func installation(_ description: RegistrationDescription) throws -> InstallationUpsert {
        let tags = try WireTags.parsed(description.tags)
        guard let name = tags.value(of: "$installationid:"), let id = RecordID(name) else {
            throw ServiceError(.invalidField, "a tag $UserId:{…} belongs to an installation, and the line names none")
        }
        let request = try description.upsert(id: id, precondition: .none)
        guard request.details[DeviceRecord.tileDetail] == nil else {
            throw ServiceError(.invalidField, "a secondary tile comes with the next start of the app")
        }
        var installation = InstallationUpsert(
            id: id, platform: request.platform, handle: request.handle, userID: tags.value(of: "$userid:"),
            expiresAt: description.expirationTime, tags: request.tags, pushVariables: request.pushVariables,
            details: request.details)
        guard let template = request.template else { return installation }
        guard let name = template.name else {
            throw ServiceError(.invalidField, "the template of an installation has no TemplateName")
        }
        // The name of a template is a tag of it by itself.
        let own = request.tags.filter { $0 != Tag(name) }
        installation.templates = [name: InstallationUpsert.Template(template, tags: own)]
        installation.tags = []
        return installation
    }

    private static func id(_ text: String) throws(ServiceError) -> RecordID {
        guard let id = RecordID(text) else { throw ServiceError(.invalidField, "RegistrationId is not an id") }
        return id
    }

    private static func precondition(_ kind: HubJob.Kind) -> DevicePrecondition {
        switch kind {
        case .importCreate: .absent
        case .importUpdate: .exists
        case .importUpsert, .importDelete, .export: .none
        }
    }
}

extension RegistrationTags {
    /// What stands in the braces of the address that begins so, in lower case.
    fileprivate func value(of kind: String) -> String? {
        guard let address = addresses.first(where: { $0.folded.hasPrefix(kind) })?.text, let open = address.firstIndex(of: "{")
        else { return nil }
        return String(address[address.index(after: open)...].dropLast())
    }
}
