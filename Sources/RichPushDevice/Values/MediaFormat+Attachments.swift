import RichPushModel

/// What a device asks of the type of a content.
extension MediaFormat {
    /// The format of a declared media type without its parameters.
    init?(declared: String) {
        self.init(rawValue: Self.essence(of: declared))
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
        case .sealed: "sealed"
        }
    }

    /// Whether it moves: the system shows its beginning only, and it is large.
    var isFilm: Bool { [.mp4, .quickTime, .mpeg].contains(self) }

    /// How large a file of this type the system takes as an attachment; `nil` for types it does not take
    /// (Reference/IOSClient.md#6).
    var attachmentLimit: Int64? {
        switch self {
        case .png, .jpeg, .gif: 10 << 20
        case .mp3, .m4a, .wav, .aiff: 5 << 20
        case .mp4, .mpeg: 50 << 20
        case .webp, .heic, .caf, .quickTime, .pdf, .json, .uriList, .plainText, .sealed: nil
        }
    }
}
