import NIOConcurrencyHelpers
import NIOCore
import PushHub
import RichPushModel
import ServiceErrors

/// A file that is being read, as it was when it was opened. Who reads on in order gets streams of the objects it consists of.
final class S3BlobReading: BlobReading {
    let size: Int64
    let writtenAt: Timestamp
    private let runs: [S3StoredFile.Run]
    private let client: S3Client
    private let streams: Slots
    /// The object that was read last.
    private let last = NIOLockedValueBox<(piece: S3StoredFile.Piece, reader: S3ContentReader)?>(nil)

    init(_ file: S3StoredFile, _ client: S3Client, streams: Slots) {
        runs = file.runs
        size = runs.last?.range.upperBound ?? 0
        writtenAt = file.writtenAt
        self.client = client
        self.streams = streams
    }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let end = offset + Int64(count)
        var position = offset
        while position < end {
            guard let run = run(at: position) else { throw ServiceError(.internal, "a file was read beyond its end") }
            let taken = Int(min(end, run.range.upperBound) - position)
            bytes += try await reader(of: run.piece).read(at: position - run.piece.offset, count: taken)
            position += Int64(taken)
        }
        return bytes
    }

    /// The run with that byte.
    private func run(at position: Int64) -> S3StoredFile.Run? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].range.upperBound <= position { low = middle + 1 } else { high = middle }
        }
        return low < runs.count ? runs[low] : nil
    }

    private func reader(of piece: S3StoredFile.Piece) -> S3ContentReader {
        last.withLockedValue { last in
            if let last, last.piece == piece { return last.reader }
            let reader = S3ContentReader(
                client, key: piece.key, opened: .init(bytes: ByteBuffer(), size: piece.size), streams: streams)
            last = (piece, reader)
            return reader
        }
    }
}
