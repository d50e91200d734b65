import RichPushModel
import ServiceErrors

extension DeviceUpsert {
    /// Checks the request; throws `ServiceError` (`invalid-field`) for what a hub does not keep.
    func checked(at now: Timestamp, limits: HubRequestLimits = HubRequestLimits()) throws -> DeviceUpsert {
        var request = self
        request.tags = try DeviceCheck.tags(tags, limits)
        if kind == .installation { try DeviceCheck.installationID(id) } else { try DeviceCheck.id(id) }
        try request.checkHandle()
        try DeviceCheck.platform(platform)
        try DeviceCheck.words(environment: environment, topic: topic, userID: userID)
        try DeviceCheck.extras(pushVariables: pushVariables, details: details)
        if let template {
            guard kind == .registration else {
                throw ServiceError(.invalidField, "a template of an installation is put with the installation")
            }
            try DeviceCheck.template(template, platform)
        }
        try DeviceCheck.expiry(expiresAt, at: now)
        return request
    }

    private func checkHandle() throws {
        guard let handle else {
            if kind == .registration { throw ServiceError(.invalidField, "a registration needs a handle") }
            return
        }
        try DeviceCheck.handle(handle, platform)
    }
}
