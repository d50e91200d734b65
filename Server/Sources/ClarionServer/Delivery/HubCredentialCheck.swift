import APNsProtocol
import NIOSSL
import PushHub
import RichPushModel
import ServiceErrors

/// Looks at a credential before it is stored, so that a mistake is the owner's answer now and not a send that does not leave.
public enum HubCredentialCheck {
    /// Throws `invalidField` with what is wrong; nothing of the credential is in it.
    public static func check(_ credential: HubAPNsCredential, at now: Timestamp = SystemClock().now) throws(ServiceError) {
        switch credential.identity {
        case .token(let key, let keyID, let teamID):
            guard credential.topic?.isEmpty == false else {
                throw ServiceError(.invalidField, "a signing key needs the bundle id of the app as well")
            }
            do throws(ProviderTokenKeyFault) {
                _ = try ProviderTokenKey(pem: key, keyID: keyID, teamID: teamID)
            } catch {
                throw ServiceError(.invalidField, "the signing key: \(error)")
            }
        case .certificate: _ = try HubCertificate(credential, at: now)
        }
    }
}
