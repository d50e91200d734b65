import NIOConcurrencyHelpers
import NIOCore
import PushHub
import ServiceErrors

/// A file on its way into a container: small ones wait in memory and go in one piece, large ones go in parts that the store puts together
/// at the end.
final class S3BlobUpload: BlobUpload {
    private let blob: BlobReference
    private let client: S3Client
    private let space: BucketSpace
    private let limit: Int64
    private let slot: Slots.Slot
    private let state = S3UploadState(S3UploadBuffer())

    init(_ blob: BlobReference, _ client: S3Client, _ space: BucketSpace, limit: Int64, slot: Slots.Slot) {
        self.blob = blob
        self.client = client
        self.space = space
        self.limit = limit
        self.slot = slot
    }

    /// An unfinished upload leaves nothing behind; what cannot be removed now is removed later.
    deinit {
        guard let open = state.close() else { return }
        space.settle(open.count, added: 0, for: blob.hub.number)
        guard let parts = open.parts else { return }
        let client = client
        Task { try? await client.abort(parts) }
    }

    func write(_ chunk: [UInt8]) async throws {
        try await step { upload in
            guard upload.count + Int64(chunk.count) <= self.limit else {
                throw ServiceError(.payloadTooLarge, "a file has at most \(self.limit) bytes")
            }
            try self.space.take(Int64(chunk.count), for: self.blob.hub.number)
            try await upload.take(chunk, self.client) { S3FileKeys.whole(self.blob) }
            return true
        }
    }

    func finish() async throws {
        try await step { upload in
            let old = try await self.client.file(self.blob)
            // Several objects cannot be replaced atomically. Removing the old ones first keeps readers from mixing both.
            if old.hasPages { try await self.client.delete(old) }
            if upload.parts == nil {
                try await self.client.put(upload.waiting, at: S3FileKeys.whole(self.blob))
            } else if let parts = try await upload.sendRest(self.client) {
                try await self.client.complete(parts)
            }
            self.space.settle(upload.count, added: upload.count - old.bytes, for: self.blob.hub.number)
            return false
        }
    }

    private func step(_ work: (inout S3UploadBuffer) async throws -> Bool) async throws {
        try await state.step(work) { open in
            space.settle(open.count, added: 0, for: blob.hub.number)
            guard let parts = open.parts else { return }
            let client = client
            // Even when the caller was cancelled.
            await Task { try? await client.abort(parts) }.value
        }
    }
}
