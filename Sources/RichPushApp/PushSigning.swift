#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation

    /// Which of Apple's two push services the app is signed for. A token of one is refused by the other.
    enum PushSigning: String {
        case sandbox, production

        /// An app from the store carries no profile; one from Xcode or for testers carries the profile that says it.
        static var current: PushSigning? {
            #if targetEnvironment(simulator)
                return .sandbox
            #else
                guard let file = Bundle.main.url(forResource: "embedded", withExtension: "mobileprovision") else {
                    return .production
                }
                return (try? Data(contentsOf: file)).flatMap { PushSigning(profile: $0) }
            #endif
        }

        /// Reads a provisioning profile: a property list inside a signature. `nil` when it does not allow pushes at all.
        init?(profile: Data) {
            let text = String(decoding: profile, as: UTF8.self)
            guard let key = text.range(of: "<key>aps-environment</key>"),
                let start = text.range(of: "<string>", range: key.upperBound..<text.endIndex),
                let end = text.range(of: "</string>", range: start.upperBound..<text.endIndex)
            else { return nil }
            switch text[start.upperBound..<end.lowerBound] {
            case "development": self = .sandbox
            case "production": self = .production
            default: return nil
            }
        }
    }
#endif
