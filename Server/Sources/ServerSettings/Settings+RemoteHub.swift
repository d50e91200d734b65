import SharedAccess

extension Settings.RemoteHub {
    /// The hub elsewhere, if its connection string or its name is set; then both must be.
    init?(from resolver: inout SettingsResolver) {
        let secret = resolver.value(SettingCatalog.remoteHubConnectionString)
        let name = resolver.value(SettingCatalog.remoteHubName)
        let path = resolver.value(SettingCatalog.remoteHubTrustRootsPath)
        if let path { resolver.checkTrustRoots(path, for: SettingCatalog.remoteHubTrustRootsPath) }
        let sentence = "is needed too: remote-hub-connection-string and remote-hub-name belong together"
        if secret == nil, name != nil { resolver.complain(SettingCatalog.remoteHubConnectionString, sentence) }
        if secret != nil, name == nil { resolver.complain(SettingCatalog.remoteHubName, sentence) }
        if path != nil, secret == nil {
            resolver.complain(
                SettingCatalog.remoteHubTrustRootsPath, "is for a hub elsewhere; set remote-hub-connection-string as well")
        }
        guard let secret, let name else { return nil }
        do throws(ConnectionStringFault) {
            self.init(connection: try ConnectionString(secret.reveal()), name: name, trustRootsPath: path)
        } catch {
            resolver.complain(SettingCatalog.remoteHubConnectionString, "cannot be used: \(error.description)")
            return nil
        }
    }
}
