import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Metadata of uploads")
struct MetadataTests {
    /// What is stored of a file that comes in chunks of so many bytes.
    static func stored(
        _ bytes: [UInt8], as format: MediaFormat, pixels: Int64 = 100_000_000, chunk: Int = 1_000
    ) throws(ServiceError) -> (bytes: [UInt8], isChanged: Bool) {
        guard var filter = MetadataFilter(format: format, pixelLimit: pixels) else { return (bytes, false) }
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            output += try filter.take(Array(bytes[start..<min(bytes.count, start + chunk)]))
        }
        output += try filter.end()
        return (output, filter.isChanged)
    }

    static let files: [(MediaFormat, [UInt8])] = [
        (.jpeg, Pictures.jpeg), (.png, Pictures.png), (.gif, Pictures.gif), (.webp, Pictures.webP), (.webp, Pictures.animation),
        (.heic, Pictures.heic()), (.mp4, Pictures.video()), (.quickTime, Pictures.video("qt  ")), (.m4a, Pictures.video("M4A ")),
    ]

    @Test("no place is left in a file of any format, however it is cut into chunks", arguments: files.indices)
    func removed(_ index: Int) throws {
        let (format, bytes) = Self.files[index]
        #expect(Pictures.hasSecret(bytes))
        let whole = try Self.stored(bytes, as: format)
        #expect(whole.isChanged)
        #expect(!Pictures.hasSecret(whole.bytes))
        #expect(!whole.bytes.isEmpty)
        for chunk in 1...40 { #expect(try Self.stored(bytes, as: format, chunk: chunk).bytes == whole.bytes) }
    }

    @Test("what was cleaned once stays as it is", arguments: files.indices)
    func twice(_ index: Int) throws {
        let (format, bytes) = Self.files[index]
        let once = try Self.stored(bytes, as: format).bytes
        let twice = try Self.stored(once, as: format)
        #expect(twice.bytes == once)
        #expect(!twice.isChanged)
    }

    @Test("a JPEG keeps pixels, tables, colours and orientation, and nothing else")
    func jpeg() throws {
        #expect(try Self.stored(Pictures.jpeg, as: .jpeg).bytes == Pictures.cleanJPEG)
    }

    @Test("an upright JPEG needs no orientation")
    func upright() throws {
        let rest = Pictures.frame() + Pictures.scan + [0xFF, 0xD9]
        let stored = try Self.stored([0xFF, 0xD8] + Pictures.exifSegment(Pictures.exif(1)) + rest, as: .jpeg)
        #expect(stored.bytes == [0xFF, 0xD8] + rest)
    }

    @Test("a JPEG that ends within its pixels is stored, as it is shown")
    func cutPixels() throws {
        let bytes = [0xFF, 0xD8] + Pictures.frame() + Pictures.scan
        let stored = try Self.stored(bytes, as: .jpeg)
        #expect(stored.bytes == bytes)
        #expect(!stored.isChanged)
    }

    @Test("a PNG keeps pixels, colours and orientation, and nothing else")
    func png() throws {
        let orientation: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        let clean = Pictures.png([
            Pictures.chunk("iCCP", Array("profile".utf8) + [0, 0, 1, 2, 3]), Pictures.chunk("eXIf", orientation), Pictures.pixels,
        ])
        #expect(try Self.stored(Pictures.png, as: .png).bytes == clean)
    }

    @Test("a GIF keeps its picture and its repeating, and nothing else")
    func gif() throws {
        #expect(try Self.stored(Pictures.gif, as: .gif).bytes == Pictures.gif(Pictures.repeating + Pictures.gifPicture))
    }

    @Test("a WebP keeps its length, its colours and its orientation; the flag of XMP is off")
    func webP() throws {
        let orientation: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]
        let length = Pictures.exif(8).count
        let blank = Array(repeating: UInt8(0), count: Pictures.secret.count)
        let clean = Pictures.webP(
            Pictures.canvas(flags: 0x28) + Pictures.part("ICCP", [1, 2, 3]) + Pictures.lossless()
                + Pictures.part("EXIF", orientation + Array(repeating: 0, count: length - orientation.count))
                + Pictures.part("JUNK", blank) + Pictures.part("JUNK", blank))
        #expect(try Self.stored(Pictures.webP, as: .webp).bytes == clean)
    }

    @Test("HEIC files and videos keep their length and every byte of pixels", arguments: [MediaFormat.heic, .mp4, .quickTime])
    func inPlace(_ format: MediaFormat) throws {
        let bytes = format == .heic ? Pictures.heic() : Pictures.video()
        let stored = try Self.stored(bytes, as: format).bytes
        #expect(stored.count == bytes.count)
        let pixels: [UInt8] = format == .heic ? [1, 2, 3, 4] : [5, 6, 7]
        let mark = Array("mdat".utf8)
        for file in [bytes, stored] {
            let start = try #require(file.indices.first { file[$0...].starts(with: mark) }) + (format == .heic ? 4 : 12)
            #expect(file[start...].starts(with: pixels))
        }
        #expect(stored.indices.contains { stored[$0...].starts(with: Array("irot".utf8)) } == (format == .heic))
    }

    @Test("a video keeps every other box byte for byte")
    func keptBoxes() throws {
        #expect(try Self.stored(Pictures.video(), as: .mp4).bytes == Pictures.video(isClean: true))
    }

    @Test("a HEIC file keeps its brand")
    func brand() throws {
        let stored = try Self.stored(Pictures.heic(), as: .heic).bytes
        #expect(stored.prefix(20) == Pictures.heic().prefix(20))
    }

    @Test("a HEIC directory cannot have the same bytes emptied again and again")
    func overlappingItems() {
        #expect(throws: ServiceError.self) { try Self.stored(Pictures.heic(repeatsItem: true), as: .heic) }
    }

    @Test("a HEIC file with its metadata before the directory is refused with words that help")
    func lateDirectory() {
        #expect {
            _ = try Self.stored(Pictures.heic(isDirectoryFirst: false), as: .heic)
        } throws: { error in
            (error as? ServiceError).map { $0.code == .unsupportedContent && $0.detail?.contains("JPEG") == true } ?? false
        }
    }

    @Test(
        "sounds, documents and what is sealed are stored as they come", arguments: [MediaFormat.mp3, .pdf, .plainText, .sealed])
    func untouched(_ format: MediaFormat) {
        #expect(MetadataFilter(format: format, pixelLimit: 1) == nil)
    }
}

extension MetadataTests {
    static let large: [(MediaFormat, [UInt8])] = [
        (.png, Pictures.png(width: 60_000, height: 60_000, [Pictures.pixels])),
        (.png, Pictures.png(width: Int(Int32.max), height: Int(Int32.max), [Pictures.pixels])),
        (.jpeg, [0xFF, 0xD8] + Pictures.frame(width: 60_000, height: 60_000)),
        (.gif, Pictures.gif([], width: 60_000, height: 60_000)),
        (.gif, Pictures.gif([0x2C, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 2])),
        (.webp, Pictures.webP(Pictures.lossless(width: 16_384, height: 16_384))),
        (.webp, Pictures.webP(Pictures.canvas(flags: 0, width: 60_000, height: 60_000))),
        (.webp, Pictures.webP(Pictures.part("VP8 ", [0, 0, 0, 0x9D, 1, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F]))),
        (.heic, Pictures.heic(width: 60_000, height: 60_000)),
        (.heic, Pictures.heic(width: Int(UInt32.max), height: Int(UInt32.max))),
    ]

    @Test("more pixels than the setting allows are refused before the pixels come", arguments: large.indices)
    func pixels(_ index: Int) throws {
        let (format, bytes) = Self.large[index]
        #expect {
            _ = try Self.stored(bytes, as: format, chunk: 7)
        } throws: { error in
            (error as? ServiceError).map { $0.code == .contentTooLarge && $0.detail?.contains("100000000 pixels") == true }
                ?? false
        }
    }

    @Test("as many pixels as the setting allows are stored")
    func enoughPixels() throws {
        let bytes = Pictures.png(width: 100, height: 10, [Pictures.pixels])
        #expect(try Self.stored(bytes, as: .png, pixels: 1_000).bytes == bytes)
        #expect(throws: ServiceError.self) { try Self.stored(bytes, as: .png, pixels: 999) }
    }

    static let malformed: [(MediaFormat, [UInt8])] = [
        (.png, Array(Pictures.png(width: 0, [Pictures.pixels]))), (.png, Pictures.png([])),
        (.png, Pictures.png([Pictures.chunk("ABCD", [])])),
        (.png, Array(Pictures.png.prefix(8)) + Pictures.pixels),
        (.png, Array(Pictures.png.prefix(33)) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("IDAT".utf8)),
        (.jpeg, [0xFF, 0xD8, 0xFF, 0xD9]), (.jpeg, [0xFF, 0xD8] + Pictures.scan), (.jpeg, [0xFF, 0xD8, 0xFF, 0xE1, 0, 1]),
        (.jpeg, [0xFF, 0xD8] + Pictures.frame(height: 0) + Pictures.scan), (.jpeg, [0xFF, 0xD8, 0x00, 0x00]),
        (.gif, Pictures.gif([0x99])), (.webp, Pictures.webP([])),
        (.webp, Pictures.webP(Array("VP8L".utf8) + [0xFF, 0xFF, 0xFF, 0xFF])),
        (.webp, Pictures.webP(Pictures.part("VP8L", [0x2F]))),
        (.webp, Pictures.webP(Pictures.part("VP8 ", Array(repeating: 1, count: 10)))),
        (
            .heic,
            Pictures.box("ftyp", Array("heic".utf8))
                + Pictures.box("meta", [0, 0, 0, 0] + Pictures.big(9, 4) + Array("iinf".utf8))
        ),
        (.mp4, Pictures.box("ftyp", Array("isom".utf8)) + Pictures.box("moov", Pictures.big(99, 4) + Array("trak".utf8))),
        (.mp4, Pictures.box("ftyp", Array("isom".utf8)) + Pictures.big(4, 4) + Array("mdat".utf8)),
        (.mp4, Pictures.box("ftyp", Array("isom".utf8)) + Pictures.big(1, 4) + Array("mdat".utf8) + Pictures.big(UInt64.max, 8)),
    ]

    @Test("files that break their format are refused and say where", arguments: malformed.indices)
    func broken(_ index: Int) throws {
        let (format, bytes) = Self.malformed[index]
        #expect {
            _ = try Self.stored(bytes, as: format)
        } throws: { error in
            (error as? ServiceError).map { $0.code == .unsupportedContent && $0.detail != nil } ?? false
        }
    }

    @Test("a place list that claims more pieces than it has bytes ends at once")
    func countlessPieces() throws {
        // Sixteen items of 65,535 pieces that take no byte.
        let item: [UInt8] = [0, 1, 0, 0, 0, 0, 0xFF, 0xFF]
        let places = Pictures.box("iloc", [1, 0, 0, 0, 0, 0, 0, 16] + (0..<16).flatMap { _ in item })
        let file = Pictures.box("ftyp", Array("heic".utf8)) + Pictures.box("meta", [0, 0, 0, 0] + places)
        #expect(throws: ServiceError.self) { try Self.stored(file, as: .heic) }
    }

    /// The end of a file that may be cut off without harm: pixels of a JPEG, what follows the end, and boxes at the top.
    private static func isRefusedEverywhere(_ format: MediaFormat) -> Bool { [.png, .gif, .webp].contains(format) }

    @Test("a file that is cut off is refused, or nothing of its metadata is stored", arguments: files.indices)
    func cutOff(_ index: Int) throws {
        let (format, bytes) = Self.files[index]
        let whole = try Self.stored(bytes, as: format).bytes
        for count in 0..<bytes.count {
            switch Self.outcome(Array(bytes.prefix(count)), format) {
            case .success(let stored):
                #expect(!Pictures.hasSecret(stored))
                if Self.isRefusedEverywhere(format) { #expect(stored == whole) }
            case .failure(let error): #expect(error.code == .unsupportedContent)
            }
        }
    }

    @Test("random changes end in a refusal or in a file that stays as it is when it is cleaned again", arguments: files.indices)
    func mutations(_ index: Int) throws {
        var random = SeededGenerator()
        print("metadata mutations of file \(index): TEST_SEED=\(random.seed)")
        let (format, original) = Self.files[index]
        for _ in 0..<1_500 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.mutate(&bytes, &random) }
            let pieces = Self.outcome(bytes, format, chunk: Int.random(in: 1...50, using: &random))
            switch Self.outcome(bytes, format) {
            case .success(let once):
                #expect(pieces == .success(once))
                let twice = try Self.stored(once, as: format)
                #expect(twice.bytes == once)
                #expect(!twice.isChanged)
            case .failure(let error):
                #expect(pieces == .failure(error))
                #expect([.unsupportedContent, .contentTooLarge].contains(error.code))
            }
        }
    }

    private static func outcome(_ bytes: [UInt8], _ format: MediaFormat, chunk: Int = 1_000) -> Result<[UInt8], ServiceError> {
        do throws(ServiceError) {
            return .success(try stored(bytes, as: format, chunk: chunk).bytes)
        } catch {
            return .failure(error)
        }
    }

    static func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard bytes.count > 16 else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 4: bytes.replaceSubrange(place..<min(bytes.count, place + 4), with: [0xFF, 0xFF, 0xFF, 0xFF])
        default:
            let other = Int.random(in: 0..<bytes.count, using: &random)
            bytes.insert(contentsOf: bytes[other..<min(bytes.count, other + 12)], at: place)
        }
    }
}

@Suite("Uploads with metadata")
struct MetadataUploadTests {
    @Test("digest and size are those of the stored bytes, and the answer says that they differ")
    func answer() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let answer = try await test.backend.storeContent(
            declaredType: "image/jpeg", fileName: "a.jpg", chunks: Chunks(Pictures.jpeg, size: 10), for: ann)
        #expect(answer.metadataRemoved == true)
        #expect(answer.content.byteCount == Int64(Pictures.cleanJPEG.count))
        let id = try await test.send(ann) { $0.contentID = answer.id }
        #expect(try await test.content(of: id, for: ann) == Pictures.cleanJPEG)
        let again = try await test.backend.storeContent(
            declaredType: nil, fileName: nil, chunks: Chunks(Pictures.cleanJPEG), for: ann)
        #expect(again.metadataRemoved == nil)
        #expect(again.content.sha256 == answer.content.sha256)
    }

    @Test("a picture with too many pixels is refused as too large, also where the quota leaves less than the limit of a content")
    func pixels() async throws {
        let test = try await TestBackend { $0.contentQuota = 1_000_000 }
        let ann = try await test.user("ann")
        let bytes = Pictures.png(width: 60_000, height: 60_000, [Pictures.pixels])
        #expect(await code { _ = try await test.store(bytes, ann) } == .contentTooLarge)
    }

    @Test("bytes that are not stored count against the limit of a content as they come")
    func dropped() async throws {
        let test = try await TestBackend { $0.contentLimit = 10_000 }
        let ann = try await test.user("ann")
        let bytes = Pictures.cleanJPEG + Array(repeating: UInt8(0), count: 10_000)
        #expect(await code { _ = try await test.store(bytes, ann) } == .contentTooLarge)
    }

    @Test("the default picture has no metadata either")
    func defaultPicture() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        try await test.register(ann, handle: 1)
        try await test.backend.setDefaultPicture(Pictures.jpeg, fileName: "a.jpg")
        let id = try await test.backend.sendDefaultPicture(idempotencyKey: nil, for: ann).id
        #expect(try await test.content(of: id, for: ann) == Pictures.cleanJPEG)
    }

    @Test("what is sealed is stored as it came")
    func sealed() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let bytes = MediaFormat.sealMark + Pictures.jpeg
        let answer = try await test.backend.storeContent(declaredType: nil, fileName: nil, chunks: Chunks(bytes), for: ann)
        #expect(answer.metadataRemoved == nil)
        #expect(answer.content.byteCount == Int64(bytes.count))
    }
}
