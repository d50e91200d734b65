import AppBackend

extension Settings {
    /// What these settings say to the app backend.
    package var backend: BackendSettings {
        var backend = BackendSettings()
        backend.contentLimit = contentLimit
        backend.pixelLimit = contentPixels
        backend.contentQuota = contentQuota
        backend.retention = retention
        users.apply(to: &backend)
        backend.protectedTagPrefixes = notifications.protectedTagPrefixes
        backend.neutralText = notifications.neutralText
        return backend
    }
}
