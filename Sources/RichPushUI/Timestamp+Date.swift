import Foundation
import RichPushModel

extension Timestamp {
    /// For views, which know dates.
    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension ContentKind {
    /// The name of a symbol of the system.
    var symbol: String {
        switch self {
        case .image: "photo"
        case .sound: "speaker.wave.2"
        case .video: "film"
        case .link: "link"
        case .coupon: "ticket"
        case .text: "text.bubble"
        default: "doc"
        }
    }
}
