import APNsHTTP2
import APNsProtocol

extension SettingsSurroundings {
    /// The machine, with the checks that the signing key is one and that the trust roots are certificates.
    public static var server: SettingsSurroundings {
        machine(
            checkAPNsKey: sentence(aboutKey:),
            checkTrustRoots: { APNsClientConfiguration.Trust.isFit(pem: $0) ? nil : "the file holds no PEM certificates" })
    }

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
