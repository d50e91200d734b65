extension NotificationHub {
    /// The request as the hub would store it: checked, and with the hub's own expiry where it says none. Throws `ServiceError`.
    func accepted(_ request: DeviceUpsert) throws -> DeviceUpsert {
        let now = clock.now
        var checked = try request.checked(at: now, limits: settings.limits)
        if request.expiresByDefault { checked.expiresAt = request.expiresAt ?? defaultExpiry(at: now) }
        return checked
    }
}
