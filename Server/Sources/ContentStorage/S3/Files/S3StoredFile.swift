import PushHub
import RichPushModel

/// A file of a container as its objects tell of it. A value without I/O.
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

    /// Adds an object.
    mutating func add(_ entry: S3Entry, _ part: S3FileKeys.Part) {
        writtenAt = max(writtenAt, entry.writtenAt)
        switch part {
        case .mark: hasMark = true
        case .whole: pieces.append(Piece(key: entry.key, isWhole: true, offset: 0, size: entry.size))
        case .page(let offset): pieces.append(Piece(key: entry.key, isWhole: false, offset: offset, size: entry.size))
        }
    }

    /// Whether there is a file. Pages alone are none: somebody removed it while somebody else still wrote.
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
