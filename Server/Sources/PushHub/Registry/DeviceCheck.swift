import NotificationTemplates
import RichPushModel
import ServiceErrors

/// What registrations and installations have in common to be checked. Everything throws `ServiceError` (`invalid-field`).
enum DeviceCheck {
    /// The tags without repeats: the first spelling of each stays.
    static func tags(_ tags: [Tag], _ limits: HubRequestLimits) throws -> [Tag] {
        var seen: Set<Tag> = []
        let unique = tags.filter { seen.insert($0).inserted }
        guard unique.count <= limits.tags else {
            throw ServiceError(.invalidField, "a device has at most \(limits.tags) tags")
        }
        // The server adds these two itself; a client that could set them could receive for others.
        guard !unique.contains(where: { $0.text.hasPrefix("$") }) else {
            throw ServiceError(.invalidField, "a device cannot be given a tag that begins with $")
        }
        return unique
    }

    static func id(_ id: RecordID) throws {
        if id.isDerived {
            throw ServiceError(.conflict, "this record belongs to an installation; change the installation instead")
        }
    }

    static func installationID(_ id: RecordID) throws {
        try self.id(id)
        guard Tag.addressedInstallation(id.text) != nil else {
            throw ServiceError(.invalidField, "the id of an installation has no }")
        }
    }

    static func handle(_ handle: DeviceHandle, _ platform: Platform) throws {
        guard DeviceHandle(handle.text, platform: platform) == handle else {
            throw ServiceError(.invalidField, "the handle is not one of platform \(platform.rawValue.prefix(16))")
        }
    }

    static func platform(_ platform: Platform) throws {
        guard (1...16).contains(platform.rawValue.utf8.count), HeaderText.isSafe(platform.rawValue),
            platform.rawValue != SendFormat.template.text
        else { throw ServiceError(.invalidField, "the platform is not a known word") }
    }

    static func words(environment: String?, topic: String?, userID: String?) throws {
        if let environment, environment != "sandbox", environment != "production" {
            throw ServiceError(.invalidField, "the environment of a device is sandbox or production")
        }
        if let topic { try HeaderText.checkTopic(topic) }
        // Whom no tag expression can name, no send could reach.
        if let userID, userID.utf8.count > 256 || Tag.addressedUser(userID) == nil {
            throw ServiceError(.invalidField, "a user id has 1 to 256 bytes, none of them } or a control character")
        }
    }

    static func expiry(_ expiresAt: Timestamp?, at now: Timestamp) throws {
        if let expiresAt, expiresAt <= now {
            throw ServiceError(.invalidField, "the expiration time of a device lies in the past")
        }
    }

    /// Nothing reads these but the client that wrote them, so only their size matters.
    static func extras(pushVariables: [String: String], details: [String: String]) throws {
        for (values, name) in [(pushVariables, "push variables"), (details, "platform details")] {
            let bytes = values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            guard values.count <= maximumExtras, bytes <= maximumExtraBytes else {
                throw ServiceError(
                    .invalidField,
                    "the \(name) of a device are at most \(maximumExtras) and have at most \(maximumExtraBytes) bytes together")
            }
        }
    }

    private static let maximumExtras = 64
    private static let maximumExtraBytes = 8_192

    /// Also throws for a template that the language refuses, and says where.
    static func template(_ template: DeviceTemplate, _ platform: Platform) throws {
        if let name = template.name { try templateName(name) }
        do throws(TemplateError) {
            _ = try CompiledTemplate(template, platform: platform)
        } catch {
            throw ServiceError(.invalidField, error.description)
        }
    }

    static func templateName(_ name: String) throws {
        guard !name.isEmpty, name.count <= DeviceTemplate.maximumName, name.utf8.count <= 4 * DeviceTemplate.maximumName else {
            throw ServiceError(.invalidField, "the name of a template has 1 to \(DeviceTemplate.maximumName) characters")
        }
    }
}
