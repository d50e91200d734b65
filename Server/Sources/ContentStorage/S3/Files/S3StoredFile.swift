import NIOCore
import PushHub
import RichPushModel

/// A file of a container, derived from its objects. A value without I/O.
struct S3StoredFile: Hashable {
    /// An object with bytes of the file.
    struct Piece: Hashable {
        var key: String
        var isWhole: Bool
        var offset: Int64
        var size: Int64
        var end: Int64 { offset + size }
    }

    /// Bytes of the file that one object has.
    struct Run: Hashable {
        var range: Range<Int64>
        var piece: Piece
    }

    let blob: BlobReference
    private(set) var pieces: [Piece] = []
    private(set) var hasMark = false
    /// By the clock of the store, in whole seconds.
    private(set) var writtenAt = Timestamp(milliseconds: 0)

    init(_ blob: BlobReference) { self.blob = blob }

    mutating func add(_ entry: S3Entry, _ part: S3FileKeys.Part) {
        writtenAt = max(writtenAt, entry.writtenAt)
        switch part {
        case .mark: hasMark = true
        case .whole: pieces.append(Piece(key: entry.key, isWhole: true, offset: 0, size: entry.size))
        case .page(let offset): pieces.append(Piece(key: entry.key, isWhole: false, offset: offset, size: entry.size))
        }
    }

    /// Whether there is a file. Pages alone are none: the file was removed during a write.
    var exists: Bool { hasMark || pieces.contains(where: \.isWhole) }

    /// Whether a job has written to it.
    var hasPages: Bool { pieces.contains { !$0.isWhole } }

    /// What its objects take, those included that no reader sees.
    var bytes: Int64 { pieces.reduce(0) { $0 + $1.size } }

    /// Where its bytes end.
    var size: Int64 { runs.last?.range.upperBound ?? 0 }

    /// Which object each byte comes from. A page hides what was uploaded; where two pages have a byte, it is the same. What lies behind
    /// a gap does not belong to the file.
    var runs: [Run] {
        let pieces = pieces.sorted { ($0.offset, $0.isWhole ? 0 : 1, -$0.size) < ($1.offset, $1.isWhole ? 0 : 1, -$1.size) }
        var runs: [Run] = []
        var open: [Piece] = []
        var position: Int64 = 0
        var index = 0
        while true {
            while index < pieces.count, pieces[index].offset <= position {
                open.append(pieces[index])
                index += 1
            }
            while let last = open.last, last.end <= position { open.removeLast() }
            guard let last = open.last else { return runs }
            let end = index < pieces.count ? min(last.end, pieces[index].offset) : last.end
            runs.append(Run(range: position..<end, piece: last))
            position = end
        }
    }

    /// All keys, those first without which there is no file.
    var keys: [String] {
        (hasMark ? [S3FileKeys.mark(blob)] : []) + pieces.filter(\.isWhole).map(\.key)
            + pieces.filter { !$0.isWhole }.map(\.key)
    }
}

/// The keys of the files of jobs and feedback, below the prefix: `files/{hub number}/{container}/{name}!` and one of
///
/// - `-`: there is such a file, with or without bytes,
/// - `.`: what was uploaded as a whole,
/// - `{offset}-{size}`: bytes that a job wrote, the offset with 19 digits. An object cannot be appended to, so a file that grows is many of
///   them.
///
/// No name has a `!`, and it comes before every character that a name may have: keys are in the order of names.
enum S3FileKeys {
    /// What an object is to its file.
    enum Part: Hashable {
        case mark
        case whole
        case page(offset: Int64)
    }

    static let files = "files/"

    static func container(_ container: ContainerName, of hub: HubID) -> String { "\(files)\(hub.number)/\(container.text)/" }

    /// The beginning of all keys of a file.
    static func start(_ blob: BlobReference) -> String { container(blob.container, of: blob.hub) + blob.name.text + "!" }

    static func mark(_ blob: BlobReference) -> String { start(blob) + "-" }

    static func whole(_ blob: BlobReference) -> String { start(blob) + "." }

    static func page(of blob: BlobReference, at offset: Int64, size: Int64) -> String {
        let digits = String(offset)
        return start(blob) + String(repeating: "0", count: max(0, 19 - digits.count)) + digits + "-\(size)"
    }

    /// What comes after all keys of the file with this name.
    static func end(of name: BlobName, in container: ContainerName, of hub: HubID) -> String {
        start(BlobReference(hub: hub, container: container, name: name)) + ":"
    }

    /// What a key says; `nil` when it is none of these.
    static func read(_ key: String) -> (blob: BlobReference, part: Part)? {
        guard key.hasPrefix(files), let mark = key.lastIndex(of: "!") else { return nil }
        let parts = key[..<mark].dropFirst(files.count).split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hub = Int64(parts[0]), let container = ContainerName(String(parts[1])),
            let name = BlobName(String(parts[2])), let part = part(key[key.index(after: mark)...])
        else { return nil }
        return (BlobReference(hub: HubID(hub), container: container, name: name), part)
    }

    private static func part(_ text: Substring) -> Part? {
        switch text {
        case "-": return .mark
        case ".": return .whole
        default:
            let words = text.split(separator: "-", omittingEmptySubsequences: false)
            guard words.count == 2, let offset = Int64(words[0]), offset >= 0, Int64(words[1]) != nil else { return nil }
            return .page(offset: offset)
        }
    }
}

extension S3Client {
    /// Calls the body with each file of containers whose keys begin with `start`, in the order of names after `key`, until it says `false`.
    func forEachFile(_ start: String, after key: String? = nil, _ body: (S3StoredFile) async throws -> Bool) async throws {
        var file: S3StoredFile?
        var last = key
        while true {
            let entries = try await list(start, after: last)
            guard let end = entries.last else { break }
            last = end.key
            for entry in entries {
                guard let (blob, part) = S3FileKeys.read(entry.key) else { continue }
                if let complete = file, complete.blob != blob {
                    guard try await body(complete) else { return }
                    file = nil
                }
                file = file ?? S3StoredFile(blob)
                file?.add(entry, part)
            }
        }
        if let file { _ = try await body(file) }
    }

    func file(_ blob: BlobReference) async throws -> S3StoredFile {
        var found = S3StoredFile(blob)
        try await forEachFile(S3FileKeys.start(blob)) { file in
            found = file
            return false
        }
        return found
    }

    /// Removes all objects of a file. It is no longer found from the first removal on.
    func delete(_ file: S3StoredFile) async throws {
        for key in file.keys { try await delete(key) }
    }

    /// Stores the first bytes of an object under a key, which may be its own.
    func copyBeginning(of source: String, _ size: Int64, to key: String) async throws {
        guard size > Int64(options.partBytes) else {
            let kept = try await piece(of: source, 0..<size)
            return try await put(kept.bytes, at: key)
        }
        try await copyInParts(source, size, to: key)
    }
}
