import NIOConcurrencyHelpers
import NIOCore
import PushHub
import ServiceErrors

/// A file that grows by one object for each write. A write that was answered survives everything that the store survives.
final class S3BlobAppending: BlobAppending {
    private let blob: BlobReference
    private let client: S3Client
    private let space: BucketSpace
    private let position: NIOLockedValueBox<Int64>

    init(_ blob: BlobReference, _ client: S3Client, _ space: BucketSpace, at offset: Int64) {
        self.blob = blob
        self.client = client
        self.space = space
        position = NIOLockedValueBox(offset)
    }

    func write(_ chunk: [UInt8]) async throws {
        guard !chunk.isEmpty else { return }
        let (count, hub) = (Int64(chunk.count), blob.hub.number)
        let offset = position.withLockedValue { $0 }
        try space.take(count, for: hub)
        var added: Int64 = 0
        defer { space.settle(count, added: added, for: hub) }
        do {
            let key = S3FileKeys.page(of: blob, at: offset, size: count)
            // What was there already takes no room.
            let before = try await client.state(of: key)?.size ?? 0
            try await client.put(ByteBuffer(bytes: chunk), at: key)
            added = count - before
            position.withLockedValue { $0 = offset + count }
        } catch let fault as S3Fault { throw fault.serviceError }
    }

    func cut(to size: Int64) async throws {
        do {
            let file = try await client.file(blob)
            // With its last byte the file itself would go.
            if size == 0, !file.hasMark { try await client.put(ByteBuffer(), at: S3FileKeys.mark(blob)) }
            var kept: [String: Int64] = [:]
            for piece in file.pieces {
                let end = min(piece.end, size)
                let key =
                    piece.isWhole ? piece.key : S3FileKeys.page(of: blob, at: piece.offset, size: end - piece.offset)
                if end > piece.offset || piece.isWhole && size > 0 {
                    kept[key] = end - piece.offset
                    if end < piece.end {
                        try await client.copyBeginning(of: piece.key, end - piece.offset, to: key)
                    }
                }
                if kept[piece.key] == nil { try await client.delete(piece.key) }
            }
            space.settle(0, added: kept.values.reduce(0, +) - file.bytes, for: blob.hub.number)
        } catch let fault as S3Fault { throw fault.serviceError }
    }

    /// Every write is durable already.
    func synchronize() async throws {}
}
