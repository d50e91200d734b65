extension NotificationHub {
    /// The request as the hub would store it: checked, and with the hub's own expiry where it says none. Throws `ServiceError`.
    func accepted(_ request: DeviceUpsert) throws -> DeviceUpsert {
        let now = clock.now
        var checked = try request.checked(at: now, limits: settings.limits)
        if request.expiresByDefault { checked.expiresAt = request.expiresAt ?? defaultExpiry(at: now) }
        return checked
    }

    /// The same for a part of an installation.
    func accepted(_ part: InstallationPart) throws -> InstallationPart {
        var accepted = part
        accepted.limits = settings.limits
        accepted.content.expiresAt = part.content.expiresAt ?? defaultExpiry(at: clock.now)
        _ = try part.content.checked(limits: settings.limits)
        return accepted
    }
}
