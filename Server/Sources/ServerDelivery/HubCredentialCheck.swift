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
            guard let topic = credential.topic, !topic.isEmpty else {
                throw ServiceError(.invalidField, "a signing key needs the bundle id of the app as well")
            }
            guard isBundleID(topic) else {
                throw ServiceError(.invalidField, "the topic is not a bundle id such as com.example.app")
            }
            do throws(ProviderTokenKeyFault) {
                _ = try ProviderTokenKey(pem: key, keyID: keyID, teamID: teamID)
            } catch {
                throw ServiceError(.invalidField, "the signing key: \(error)")
            }
        case .certificate: _ = try HubCertificate(credential, at: now)
        }
    }

    /// As the setting `apns-topic` wants it.
    private static func isBundleID(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count) && text.contains(".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
