import RichPushModel

/// Files of every format with metadata, made byte by byte.
enum Pictures {
    /// What must not be in a stored file.
    static let secret = Array("52.5200N 13.4050E".utf8)

    static func big(_ value: some BinaryInteger, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: UInt64(value) >> UInt64($0 * 8)) }
    }

    static func little(_ value: some BinaryInteger, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    /// EXIF data with an orientation, and a place behind it.
    static func exif(_ orientation: UInt8, isLittle: Bool = false) -> [UInt8] {
        let number: (Int, Int) -> [UInt8] = { isLittle ? little($0, $1) : big($0, $1) }
        let entries =
            number(0x010F, 2) + number(2, 2) + number(secret.count, 4) + number(38, 4)
            + number(0x0112, 2) + number(3, 2) + number(1, 4) + number(Int(orientation), 2) + [0, 0]
        return (isLittle ? Array("II".utf8) : Array("MM".utf8)) + number(42, 2) + number(8, 4) + number(2, 2) + entries
            + number(0, 4) + secret
    }

    static func hasSecret(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0] == secret[0] && bytes[$0...].starts(with: secret) }
    }
}

/// PNG.
extension Pictures {
    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        let sum = ~body.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return big(data.count, 4) + body + big(sum, 4)
    }

    static func png(width: Int = 1, height: Int = 1, _ chunks: [[UInt8]]) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", big(width, 4) + big(height, 4) + [8, 0, 0, 0, 0])
            + chunks.flatMap(\.self) + chunk("IEND", [])
    }

    static let pixels = chunk("IDAT", [0x78, 0x9C, 0x63, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01])

    static let png = png([
        chunk("iCCP", Array("profile".utf8) + [0, 0, 1, 2, 3]), chunk("tEXt", Array("Location\u{0}".utf8) + secret),
        chunk("eXIf", exif(6)), chunk("tIME", [7, 0xE8, 1, 1, 1, 1, 1]), pixels, chunk("iTXt", secret), chunk("zTXt", secret),
        chunk("prVt", secret),
    ])
}

/// JPEG.
extension Pictures {
    static func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] { [0xFF, code] + big(data.count + 2, 2) + data }

    static func frame(width: Int = 1, height: Int = 1) -> [UInt8] {
        segment(0xC0, [8] + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0])
    }

    static let scan = segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56]
    static let colours = segment(0xE2, Array("ICC_PROFILE".utf8) + [0, 1, 1, 9, 9, 9])
    static let jfif = segment(0xE0, Array("JFIF".utf8) + [0, 1, 2, 0, 0, 1, 0, 1, 0, 0])
    static let adobe = segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])
    static let tables = segment(0xDB, [0] + Array(repeating: 1, count: 64)) + segment(0xC4, Array(repeating: 0, count: 17))

    static func exifSegment(_ data: [UInt8]) -> [UInt8] { segment(0xE1, Array("Exif".utf8) + [0, 0] + data) }

    static let jpeg: [UInt8] =
        [0xFF, 0xD8] + segment(0xE0, Array("JFIF".utf8) + [0, 1, 2, 0, 0, 1, 0, 1, 1, 1] + secret) + exifSegment(exif(6))
        + segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\u{0}".utf8) + secret) + segment(0xED, secret) + colours
        + segment(0xE2, Array("MPF\u{0}".utf8) + secret) + segment(0xFE, secret) + adobe + tables + frame() + scan
        + segment(0xFE, secret) + scan + [0xFF, 0xD9] + [0xFF, 0xD8] + exifSegment(exif(1)) + secret

    /// The same without metadata.
    static let cleanJPEG: [UInt8] =
        [0xFF, 0xD8] + jfif
        + exifSegment([0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]) + colours + adobe
        + tables + frame() + scan + scan + [0xFF, 0xD9]
}

/// GIF and WebP.
extension Pictures {
    private static func pieces(_ data: [UInt8]) -> [UInt8] { [UInt8(data.count)] + data + [0] }

    static func gif(_ blocks: [UInt8], width: Int = 1, height: Int = 1) -> [UInt8] {
        Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x80, 0, 0, 1, 2, 3, 4, 5, 6] + blocks + [0x3B]
    }

    static let repeating = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + pieces([1, 0, 0])
    static let gifPicture: [UInt8] =
        [0x21, 0xF9] + pieces([0, 1, 0, 0]) + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2] + pieces([0x4C, 1])

    static let gif: [UInt8] =
        gif(
            repeating + [0x21, 0xFE] + pieces(secret) + [0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + pieces(secret) + gifPicture
                + [0x21, 0xFE] + pieces(secret)) + secret

    static func part(_ type: String, _ data: [UInt8]) -> [UInt8] {
        Array(type.utf8) + little(data.count, 4) + data + (data.count % 2 == 0 ? [] : [0])
    }

    static func webP(_ parts: [UInt8]) -> [UInt8] { Array("RIFF".utf8) + little(parts.count + 4, 4) + Array("WEBP".utf8) + parts }

    /// A lossless picture; the sizes are one less than they mean.
    static func lossless(width: Int = 1, height: Int = 1) -> [UInt8] {
        part("VP8L", [0x2F] + little((height - 1) << 14 | (width - 1), 4) + [1, 2, 3])
    }

    static func canvas(flags: UInt8, width: Int = 1, height: Int = 1) -> [UInt8] {
        part("VP8X", [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }

    static let webP: [UInt8] =
        webP(
            canvas(flags: 0x2C) + part("ICCP", [1, 2, 3]) + lossless() + part("EXIF", exif(8, isLittle: true))
                + part("XMP ", secret) + part("what", secret)) + secret

    static let animation: [UInt8] = webP(
        canvas(flags: 0x02) + part("ANIM", [0, 0, 0, 0, 0, 0])
            + part("ANMF", Array(repeating: 0, count: 16) + lossless() + part("hide", secret))
            + part("ANMF", Array(repeating: 0, count: 16) + lossless()))
}

/// HEIC and videos.
extension Pictures {
    static func box(_ type: String, _ data: [UInt8]) -> [UInt8] { big(data.count + 8, 4) + Array(type.utf8) + data }

    /// A box with the length in 64 bits.
    static func longBox(_ type: String, _ data: [UInt8]) -> [UInt8] {
        big(1, 4) + Array(type.utf8) + big(data.count + 16, 8) + data
    }

    private static func full(_ type: String, version: UInt8 = 0, _ data: [UInt8]) -> [UInt8] {
        box(type, [version, 0, 0, 0] + data)
    }

    /// A picture of four bytes, EXIF data and XMP in `mdat`; more EXIF data in the directory.
    static func heic(
        width: Int = 1, height: Int = 1, isDirectoryFirst: Bool = true, repeatsItem: Bool = false
    ) -> [UInt8] {
        let start = box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + Array("heic".utf8))
        let exif = [0, 0, 0, 0] + exif(6)
        func item(_ id: Int, _ type: String) -> [UInt8] {
            full("infe", version: 2, big(id, 2) + [0, 0] + Array(type.utf8) + [0])
        }
        func place(_ id: Int, _ method: Int, _ offset: Int, _ length: Int) -> [UInt8] {
            big(id, 2) + big(method, 2) + [0, 0] + [0, 1] + big(offset, 4) + big(length, 4)
        }
        func directory(_ data: Int) -> [UInt8] {
            let items = item(1, "hvc1") + item(2, "Exif") + item(3, "mime") + item(4, "Exif")
            let again = repeatsItem ? place(4, 1, 0, secret.count) : []
            let places =
                place(1, 0, data, 4) + place(2, 0, data + 4, exif.count) + place(3, 0, data + 4 + exif.count, secret.count)
                + place(4, 1, 0, secret.count) + again
            let properties = box("ipco", full("ispe", big(width, 4) + big(height, 4)) + full("udes", secret) + box("irot", [1]))
            return full(
                "meta",
                full("hdlr", big(0, 4) + Array("pict".utf8) + Array(repeating: 0, count: 13)) + full("pitm", [0, 1])
                    + full("iinf", big(4, 2) + items)
                    + full("iloc", version: 1, [0x44, 0x00] + big(repeatsItem ? 5 : 4, 2) + places)
                    + box("iprp", properties) + box("idat", secret) + box("uuid", secret))
        }
        let data = box("mdat", [1, 2, 3, 4] + exif + secret)
        if !isDirectoryFirst { return start + data + directory(start.count + 8) }
        return start + directory(start.count + directory(0).count + 8) + data + box("mpvd", secret) + box("free", secret)
    }

    /// - Parameter isClean: what has to be stored of it.
    static func video(_ brand: String = "isom", isClean: Bool = false) -> [UInt8] {
        func metadata(_ type: [UInt8], _ data: [UInt8]) -> [UInt8] {
            big(data.count + 8, 4) + (isClean ? Array("free".utf8) + Array(repeating: 0, count: data.count) : type + data)
        }
        func metadata(_ type: String, _ data: [UInt8]) -> [UInt8] { metadata(Array(type.utf8), data) }
        let xyz = metadata([0xA9] + Array("xyz".utf8), secret)
        let track = box(
            "trak",
            box("tkhd", [1, 2, 3]) + metadata("udta", secret) + box("mdia", box("mdhd", [4]) + metadata("udta", secret))
                + [0, 0, 0])
        let places = metadata("udta", xyz + box("loci", secret))
        return box("ftyp", Array(brand.utf8) + [0, 0, 2, 0]) + box("wide", []) + longBox("mdat", [5, 6, 7])
            + box("moov", box("mvhd", [1]) + track + places + metadata("meta", secret) + xyz)
            + metadata("uuid", secret) + metadata("free", secret)
    }
}
