import RichPushModel

extension MediaFormat {
    private static let endings: [String: MediaFormat] = [
        "png": .png, "jpg": .jpeg, "jpeg": .jpeg, "gif": .gif, "webp": .webp, "heic": .heic, "mp3": .mp3, "m4a": .m4a,
        "wav": .wav, "aiff": .aiff, "aif": .aiff, "caf": .caf, "mp4": .mp4, "m4v": .mp4, "mov": .quickTime, "mpg": .mpeg,
        "mpeg": .mpeg, "pdf": .pdf, "txt": .plainText,
    ]

    /// What a sender declares for a file of this name; nothing for an ending that no device takes. The device looks at the bytes.
    public init?(fileName: String) {
        guard let ending = fileName.split(separator: ".").dropFirst().last,
            let format = Self.endings[ending.lowercased()]
        else { return nil }
        self = format
    }
}
