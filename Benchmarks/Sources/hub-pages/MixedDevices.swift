import Crypto
import Foundation
import PushHub
import RichPushModel

/// The devices of an audience of three platforms: of ten, six are Apple's, three have FCM and one is a browser.
struct MixedDevices {
    /// Where browsers have their endpoints, such as `https://127.0.0.1:8443`.
    let pushService: String
    /// Of a few browsers, in the form in which a hub keeps them. A push is encrypted with a key pair of its own in any case.
    private let browsers: [String]

    init(pushService: String) {
        self.pushService = pushService
        browsers = (0..<16).map { number in
            let key = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
            return "\(Self.base64URL(key)) \(Self.base64URL(Data(repeating: UInt8(number), count: 16)))"
        }
    }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The device with the platform and the token of its number.
    func mixed(_ device: DeviceUpsert, _ number: Int) -> DeviceUpsert {
        // As long as those of push services are.
        let name = "\(number)-" + String(repeating: "Ab1_", count: 37)
        var mixed = device
        switch number % 10 {
        case 0..<6: break
        case 6..<9: (mixed.platform, mixed.handle) = (.fcmv1, DeviceToken(canonical: "token:" + name))
        default:
            let browser = browsers[number / 10 % browsers.count]
            (mixed.platform, mixed.handle) = (.browser, DeviceToken(canonical: "\(pushService)/push/\(name) \(browser)"))
        }
        return mixed
    }
}
