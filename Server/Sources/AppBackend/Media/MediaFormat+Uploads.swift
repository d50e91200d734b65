import RichPushModel

/// What a server that takes uploads asks of a media type.
extension MediaFormat {
    /// The kind that a notification with this content has unless its sender says `file`; `nil` for what only the server writes
    /// and nobody uploads.
    var kind: ContentKind? {
        switch self {
        case .png, .jpeg, .gif, .webp, .heic: .image
        case .mp3, .m4a, .wav, .aiff, .caf: .sound
        case .mp4, .quickTime, .mpeg: .video
        case .pdf, .plainText: .file
        case .sealed: .sealed
        case .json, .uriList: nil
        }
    }

    /// File name endings; the first is given to a name that has another.
    var endings: [String] {
        switch self {
        case .png: ["png"]
        case .jpeg: ["jpg", "jpeg"]
        case .gif: ["gif"]
        case .webp: ["webp"]
        case .heic: ["heic", "heif"]
        case .mp3: ["mp3"]
        case .m4a: ["m4a", "mp4"]
        case .wav: ["wav"]
        case .aiff: ["aiff", "aif", "aifc"]
        case .caf: ["caf"]
        case .mp4: ["mp4", "m4v"]
        case .quickTime: ["mov", "qt"]
        case .mpeg: ["mpeg", "mpg"]
        case .pdf: ["pdf"]
        case .json: ["json"]
        case .sealed: ["sealed"]
        case .uriList, .plainText: ["txt"]
        }
    }

    /// Other names under which clients declare the type.
    private var aliases: [String] {
        switch self {
        case .jpeg: ["image/jpg", "image/pjpeg"]
        case .heic: ["image/heif"]
        case .mp3: ["audio/mp3", "audio/x-mp3"]
        case .m4a: ["audio/m4a", "audio/x-m4a"]
        case .wav: ["audio/x-wav", "audio/wave", "audio/vnd.wave"]
        case .aiff: ["audio/x-aiff"]
        case .mp4: ["video/x-m4v"]
        case .mpeg: ["video/mpg"]
        default: []
        }
    }

    /// What a sender declared, without parameters; `nil` when it says nothing or nobody uploads it.
    init?(declared: String) {
        let essence = MediaFormat.essence(of: declared)
        guard let format = MediaFormat.allCases.first(where: { $0.rawValue == essence || $0.aliases.contains(essence) }),
            format.kind != nil
        else {
            return nil
        }
        self = format
    }
}
