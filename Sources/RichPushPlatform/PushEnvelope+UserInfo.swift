#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import RichPushModel

    extension PushEnvelope {
        /// The keys of a push that rich push reads.
        private static var keys: [String] { ["aps", "richId", "richType", "richMessage", SubjectMark.key] }

        /// Reads what the system hands over as the payload of a push; `nil` when it is not a rich push.
        package init?(userInfo: [AnyHashable: Any]) {
            var payload: [String: Any] = [:]
            for key in Self.keys { payload[key] = userInfo[key] }
            guard JSONSerialization.isValidJSONObject(payload),
                let data = try? JSONSerialization.data(withJSONObject: payload)
            else { return nil }
            self.init(payload: data)
        }

        /// What a notification made on this device carries, so that a tap on it is read like one on a push.
        package static func userInfo(id: RichID, kind: ContentKind, altText: String?) -> [AnyHashable: Any] {
            var userInfo: [AnyHashable: Any] = ["richId": "\(id)", "richType": kind.rawValue]
            userInfo[altTextKey] = altText
            return userInfo
        }

        /// Where a notification carries the words for those who cannot see its picture.
        package static let altTextKey = "richAltText"

        /// The mark of a notification whose words were replaced because they may be another user's.
        package static let neutralKey = "richNeutral"
    }
#endif
