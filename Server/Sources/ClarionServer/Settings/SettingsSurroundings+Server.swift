import APNsProtocol

extension SettingsSurroundings {
    /// The machine, with the check that the signing key is one.
    public static var server: SettingsSurroundings { machine(checkAPNsKey: sentence(aboutKey:)) }

    /// What is wrong with a `.p8`, or `nil`. Nothing of the key is repeated.
    private static func sentence(aboutKey key: SecretText) -> String? {
        do {
            // The ids are settings of their own; here only the key is looked at.
            _ = try ProviderTokenKey(pem: key.reveal(), keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00")
            return nil
        } catch {
            return error.description
        }
    }
}
