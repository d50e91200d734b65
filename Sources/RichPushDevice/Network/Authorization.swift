import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What signs a request. It never prints its secret.
enum Authorization: Sendable, CustomStringConvertible {
    case password(UserName, String)
    case installation(String)

    var header: String {
        switch self {
        case .password(let user, let password): "Basic " + Data("\(user.text):\(password)".utf8).base64EncodedString()
        case .installation(let credential): "Bearer " + credential
        }
    }

    /// What a 401 means.
    var refusal: RichPushError {
        switch self {
        case .password: .wrongPassword
        case .installation: .credentialRejected
        }
    }

    var description: String {
        switch self {
        case .password: "Basic …"
        case .installation: "Bearer …"
        }
    }
}
