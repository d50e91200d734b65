import RichPushModel

/// How the body of a template is written (Reference/AzureNotificationHubs.md#4-2).
public enum TemplateFormat: Hashable, Sendable {
    case json
    case xml
    /// JSON if the body stands in braces, else XML.
    case markup
    /// XML if the body begins with `<`, JSON if it stands in braces, else text that stays as it is.
    case raw
}

extension TemplateFormat {
    /// The format that the bodies of a platform have, by its name in the hub protocol.
    ///
    /// Bodies for Windows may be anything by their first character, because their header decides what they mean; those of platforms
    /// that this version does not know as well.
    public init(platform: Platform) {
        switch platform.rawValue {
        case "apns", "gcm", "fcmv1", "adm", "baidu", "browser": self = .json
        default: self = .raw
        }
    }

    var escaping: RenderingBuffer.Escaping {
        switch self {
        case .json: .json
        case .xml: .xml
        case .markup, .raw: .none
        }
    }

    /// What the format means for this body.
    func decided(for body: String) -> TemplateFormat {
        guard self == .raw || self == .markup else { return self }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        switch body.utf8.first(where: { !blanks.contains($0) }) {
        case UInt8(ascii: "{") where body.utf8.last(where: { !blanks.contains($0) }) == UInt8(ascii: "}"): return .json
        case UInt8(ascii: "<"): return .xml
        default: return self == .markup ? .xml : .raw
        }
    }
}
