import RichPushModel

/// What kind of targets a send means.
public enum SendFormat: Hashable, Sendable {
    /// The native targets of one platform; the body is what its push service gets. Without a transport for the platform
    /// every target counts as skipped.
    case native(Platform)
    /// The templates of every platform; the body is a JSON object of properties that are filled in.
    case template
}

extension SendFormat {
    /// The word that is stored: the platform, or `template`.
    public var text: String {
        switch self {
        case .native(let platform): platform.rawValue
        case .template: "template"
        }
    }

    /// Reads the word from storage.
    public init(stored text: String) { self = text == "template" ? .template : .native(Platform(rawValue: text)) }
}
