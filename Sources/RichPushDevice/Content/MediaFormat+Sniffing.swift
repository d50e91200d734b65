import RichPushModel

extension MediaFormat {
    /// How many bytes of a file `matches` wants to see.
    static let window = 512

    /// Whether a file that begins like this can be of this type. Looks at bytes only, never at names.
    func matches(head: [UInt8]) -> Bool {
        switch self {
        case .png: head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        case .jpeg: head.starts(with: [0xFF, 0xD8, 0xFF])
        case .gif: Self.begins(head, "GIF87a") || Self.begins(head, "GIF89a")
        case .webp: Self.begins(head, "RIFF") && Self.word(head, at: 8) == "WEBP"
        case .wav: Self.begins(head, "RIFF") && Self.word(head, at: 8) == "WAVE"
        case .aiff: Self.begins(head, "FORM") && ["AIFF", "AIFC"].contains(Self.word(head, at: 8))
        case .mp3: Self.begins(head, "ID3") || (head.count > 1 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0)
        case .caf: Self.begins(head, "caff")
        case .m4a, .mp4, .quickTime, .heic: Self.word(head, at: 4) == "ftyp"
        case .mpeg: head.starts(with: [0x00, 0x00, 0x01, 0xBA]) || head.starts(with: [0x00, 0x00, 0x01, 0xB3])
        case .pdf: Self.begins(head, "%PDF-")
        case .sealed: head.starts(with: MediaFormat.sealMark)
        case .json: Self.isText(head) && head.first { !Self.blanks.contains($0) } == UInt8(ascii: "{")
        case .uriList, .plainText: Self.isText(head) && head.first { !Self.blanks.contains($0) } != UInt8(ascii: "<")
        }
    }

    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]

    private static func begins(_ head: [UInt8], _ text: String) -> Bool { head.starts(with: text.utf8) }

    private static func word(_ head: [UInt8], at offset: Int) -> String? {
        guard head.count >= offset + 4 else { return nil }
        return String(decoding: head[offset..<offset + 4], as: UTF8.self)
    }

    /// No control characters but tab and line ends.
    private static func isText(_ head: [UInt8]) -> Bool {
        head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || blanks.contains($0) || $0 == 0x0C }
    }
}
