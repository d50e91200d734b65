/// The one fact of EXIF data that a picture needs to be shown right: which way up it is.
enum ExifOrientation {
    /// How many bytes `data` returns.
    static let byteCount = 26

    /// The orientation, 1 to 8, of EXIF data: a TIFF header with its first directory (EXIF 2.32, 4.6.4), with or without the word `Exif` in
    /// front. `nil` when it has none or cannot be read.
    static func value(in data: ArraySlice<UInt8>) -> UInt8? {
        let tiff = data.starts(with: mark) ? data.dropFirst(mark.count) : data
        guard tiff.count >= 8 else { return nil }
        let isLittle = tiff.starts(with: [0x49, 0x49, 42, 0])
        guard isLittle || tiff.starts(with: [0x4D, 0x4D, 0, 42]) else { return nil }
        func number(_ offset: Int, _ count: Int) -> Int {
            Int(isLittle ? tiff.littleEndian(offset, count) : tiff.bigEndian(offset, count))
        }
        let directory = number(4, 4)
        guard directory <= tiff.count - 2 else { return nil }
        for index in 0..<number(directory, 2) {
            let entry = directory + 2 + index * 12
            guard entry + 12 <= tiff.count else { return nil }
            guard number(entry, 2) == 0x0112 else { continue }
            let value = number(entry + 8, 2)
            return number(entry + 2, 2) == 3 && (1...8).contains(value) ? UInt8(value) : nil
        }
        return nil
    }

    /// EXIF data that says the orientation and nothing else, without the word `Exif`.
    static func data(_ value: UInt8) -> [UInt8] {
        [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0]
    }

    /// What stands in front of EXIF data in a JPEG.
    static let mark: [UInt8] = Array("Exif".utf8) + [0, 0]
}
