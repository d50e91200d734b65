extension SettingsSurroundings {
    /// The machine, with the check that the signing key is one.
    public static var server: SettingsSurroundings { machine(checkAPNsKey: sentence(aboutKey:)) }

    /// What is wrong with a `.p8`, or `nil`. Nothing of the key is repeated.
    private static func sentence(aboutKey key: SecretText) -> String? {
        let text = key.reveal()
        guard text.contains("-----BEGIN PRIVATE KEY-----"), text.contains("-----END PRIVATE KEY-----") else {
            return "is not a signing key: it lacks the lines BEGIN PRIVATE KEY and END PRIVATE KEY of Apple's .p8"
        }
        return nil
    }
}
