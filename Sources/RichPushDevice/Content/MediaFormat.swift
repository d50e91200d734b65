/// The types of content that a device takes. What is not here could be shown as active content and is refused.
enum MediaFormat: String, CaseIterable, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"
    case mp3 = "audio/mpeg"
    case m4a = "audio/mp4"
    case wav = "audio/wav"
    case aiff = "audio/aiff"
    case caf = "audio/x-caf"
    case mp4 = "video/mp4"
    case quickTime = "video/quicktime"
    case mpeg = "video/mpeg"
    case pdf = "application/pdf"
    case json = "application/json"
    case uriList = "text/uri-list"
    case plainText = "text/plain"

    /// The format of a declared media type without its parameters.
    init?(declared: String) {
        self.init(rawValue: declared.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace })
    }

    /// The ending under which the system recognises a file of this type. Names from the network are never used.
    var fileExtension: String {
        switch self {
        case .png: "png"
        case .jpeg: "jpg"
        case .gif: "gif"
        case .webp: "webp"
        case .heic: "heic"
        case .mp3: "mp3"
        case .m4a: "m4a"
        case .wav: "wav"
        case .aiff: "aiff"
        case .caf: "caf"
        case .mp4: "mp4"
        case .quickTime: "mov"
        case .mpeg: "mpg"
        case .pdf: "pdf"
        case .json: "json"
        case .uriList, .plainText: "txt"
        }
    }

    /// How large a file of this type the system takes as an attachment; `nil` for types it does not take (iOS client reference 6).
    var attachmentLimit: Int64? {
        switch self {
        case .png, .jpeg, .gif: 10 << 20
        case .mp3, .m4a, .wav, .aiff: 5 << 20
        case .mp4, .mpeg: 50 << 20
        case .webp, .heic, .caf, .quickTime, .pdf, .json, .uriList, .plainText: nil
        }
    }
}
