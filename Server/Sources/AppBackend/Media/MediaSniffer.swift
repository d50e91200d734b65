import RichPushModel

/// Finds the media type in the first bytes. It looks at content only, never at names.
enum MediaSniffer {
    /// How many bytes it wants to see; fewer only if the content has fewer.
    static let window = 4096

    /// The format, or `nil` for everything that is not on the list: HTML, SVG, XML, scripts, archives, programs, and media
    /// whose beginning is also a page (a polyglot).
    static func format(of head: [UInt8]) -> MediaFormat? {
        // Sealed bytes are random and may contain any signature; their media type is one that browsers do not sniff.
        if head.starts(with: MediaFormat.sealMark) { return .sealed }
        guard !head.isEmpty, !containsMarkup(head) else { return nil }
        return image(head) ?? container(head) ?? sound(head) ?? video(head) ?? document(head)
    }

    private static func image(_ head: [UInt8]) -> MediaFormat? {
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) { return .gif }
        return nil
    }

    /// RIFF, IFF and the ISO base media file format say what they hold at byte 8.
    private static func container(_ head: [UInt8]) -> MediaFormat? {
        guard head.count >= 12 else { return nil }
        let word = text(head[8..<12])
        switch (text(head[0..<4]), text(head[4..<8])) {
        case ("RIFF", _): return word == "WEBP" ? .webp : word == "WAVE" ? .wav : nil
        case ("FORM", _): return word == "AIFF" || word == "AIFC" ? .aiff : nil
        case (_, "ftyp"): return brand(word)
        default: return nil
        }
    }

    private static func brand(_ word: String) -> MediaFormat? {
        switch word {
        case "heic", "heix", "heim", "heis", "mif1": .heic
        case "M4A ", "M4B ": .m4a
        case "qt  ": .quickTime
        case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "mp41", "mp42", "avc1", "M4V ", "M4VH", "M4VP", "MSNV", "dash":
            .mp4
        default: nil
        }
    }

    private static func sound(_ head: [UInt8]) -> MediaFormat? {
        if head.starts(with: Array("caff".utf8)) { return .caf }
        if head.starts(with: Array("ID3".utf8)) { return .mp3 }
        guard head.count >= 4, head[0] == 0xFF, head[1] & 0xE0 == 0xE0 else { return nil }
        // A frame header of layer III with a version, bit rate and sampling rate that exist.
        let isLayerThree = head[1] & 0x06 == 0x02
        let isValid = head[1] & 0x18 != 0x08 && head[2] & 0xF0 != 0xF0 && head[2] & 0xF0 != 0 && head[2] & 0x0C != 0x0C
        return isLayerThree && isValid ? .mp3 : nil
    }

    private static func video(_ head: [UInt8]) -> MediaFormat? {
        head.starts(with: [0x00, 0x00, 0x01, 0xBA]) || head.starts(with: [0x00, 0x00, 0x01, 0xB3]) ? .mpeg : nil
    }

    private static func document(_ head: [UInt8]) -> MediaFormat? {
        if head.starts(with: Array("%PDF-".utf8)) { return .pdf }
        return isPlainText(head) ? .plainText : nil
    }

    /// UTF-8 without control characters that does not begin like markup or a script. The last character may be cut off by the
    /// end of the window.
    private static func isPlainText(_ head: [UInt8]) -> Bool {
        let cut = head.count < window ? head.count : head.count - trailingFragment(head)
        guard let text = String(validating: head[..<cut], as: UTF8.self) else { return false }
        let begins = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        guard !begins.hasPrefix("<"), !begins.hasPrefix("#!"), !begins.hasPrefix("%!"), !begins.hasPrefix("{\\rtf") else {
            return false
        }
        return !text.unicodeScalars.contains {
            $0.value < 0x20 && !"\n\r\t\u{0C}".unicodeScalars.contains($0) || $0.value == 0x7F
        }
    }

    /// How many bytes at the end belong to a character that goes on beyond the window.
    private static func trailingFragment(_ head: [UInt8]) -> Int {
        for length in 1...min(3, head.count) {
            let byte = head[head.count - length]
            if byte & 0xC0 == 0x80 { continue }
            let wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return wanted > length ? length : 0
        }
        return 0
    }

    private static let markup = ["<script", "<html", "<!doctype", "<svg", "<iframe", "<body", "<object", "<embed", "<?php"]
        .map { Array($0.utf8) }

    /// Whether a browser that guesses could take it for a page. XMP in pictures is XML too, and harmless, so only words that
    /// make a page or run code count.
    private static func containsMarkup(_ head: [UInt8]) -> Bool {
        let folded = head.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return folded.indices.contains { index in
            folded[index] == UInt8(ascii: "<") && markup.contains { folded[index...].starts(with: $0) }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// What a server that takes uploads asks of a media type.
extension MediaFormat {
    /// The kind that a notification with this content has unless its sender says `file`; `nil` for formats that
    /// only the server writes.
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

    /// What a sender declared, without parameters; `nil` without one or for a type that cannot be uploaded.
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

/// Makes a file name that is safe in a header and on any disk, and that ends as its content says.
enum FileNameRule {
    /// The most characters of a name before its ending.
    static let maximumStem = 80

    /// The cleaned name; `nil` when there was none. Directories, control characters, quotes, direction marks and inner dots
    /// go, so neither `..` nor a double ending survives.
    static func clean(_ name: String?, for format: MediaFormat) -> String? {
        guard let last = name?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last else { return nil }
        var pieces = last.split(separator: ".").map(String.init)
        let ending = pieces.count > 1 ? pieces.removeLast().lowercased() : ""
        let stem = pieces.joined(separator: "_").unicodeScalars.map { isAllowed($0) ? Character($0) : "_" }
        let trimmed = String(String(stem).trimmingPrefix(while: { $0 == "_" || $0 == " " || $0 == "-" }).prefix(maximumStem))
        let kept = format.endings.contains(ending) ? ending : format.endings[0]
        return "\(trimmed.isEmpty ? "content" : trimmed).\(kept)"
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case " ", "-", "_", "(", ")", "a"..."z", "A"..."Z", "0"..."9": true
        default: !scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
    }
}
