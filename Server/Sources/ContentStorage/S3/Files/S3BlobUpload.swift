import NIOConcurrencyHelpers
import NIOCore
import PushHub
import ServiceErrors

/// A file on its way into a container: small ones wait in memory and go in one piece, large ones go in parts that the store puts together
/// at the end.
final class S3BlobUpload: BlobUpload {
    private struct Open {
        var count: Int64 = 0
        var waiting = ByteBuffer()
        var parts: S3Multipart?
    }

    private enum State {
        case open(Open)
        /// A call is under way.
        case busy
        case closed
    }

    private let blob: BlobReference
    private let client: S3Client
    private let space: BucketSpace
    private let limit: Int64
    private let slot: Slots.Slot
    private let state = NIOLockedValueBox(State.open(Open()))

    init(_ blob: BlobReference, _ client: S3Client, _ space: BucketSpace, limit: Int64, slot: Slots.Slot) {
        self.blob = blob
        self.client = client
        self.space = space
        self.limit = limit
        self.slot = slot
    }

    /// An upload that nobody finished leaves nothing behind; what cannot be taken back now is taken later.
    deinit {
        guard case .open(let open) = state.withLockedValue({ $0 }) else { return }
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
            upload.count += Int64(chunk.count)
            upload.waiting.writeBytes(chunk)
            // A file of exactly one part goes in one piece.
            while upload.waiting.readableBytes > self.client.options.partBytes {
                try await self.send(&upload, self.client.options.partBytes)
            }
            return true
        }
    }

    func finish() async throws {
        try await step { upload in
            let old = try await self.client.file(self.blob)
            // Several objects cannot be replaced at once: they go first, so that nobody reads some of each.
            if old.hasPages { try await self.client.delete(old) }
            if upload.parts == nil {
                try await self.client.put(upload.waiting, at: S3FileKeys.whole(self.blob))
            } else if let parts = try await self.sent(&upload) {
                try await self.client.complete(parts)
            }
            self.space.settle(upload.count, added: upload.count - old.bytes, for: self.blob.hub.number)
            return false
        }
    }

    /// Does one call's work on the state; whether the upload goes on is what the work returns. A failure ends the upload.
    private func step(_ work: (inout Open) async throws -> Bool) async throws {
        let taken = state.withLockedValue { state -> Open? in
            guard case .open(let open) = state else { return nil }
            state = .busy
            return open
        }
        guard var open = taken else { throw ServiceError(.internal, "this upload is over") }
        do {
            let goesOn = try await work(&open)
            state.withLockedValue { $0 = goesOn ? .open(open) : .closed }
        } catch {
            state.withLockedValue { $0 = .closed }
            space.settle(open.count, added: 0, for: blob.hub.number)
            if let parts = open.parts {
                let client = client
                // Even when the caller was cancelled.
                await Task { try? await client.abort(parts) }.value
            }
            throw (error as? S3Fault)?.serviceError ?? error
        }
    }

    /// Sends the first bytes of those that wait as the next part.
    private func send(_ upload: inout Open, _ count: Int) async throws {
        if upload.parts == nil { upload.parts = try await client.begin(S3FileKeys.whole(blob)) }
        guard count > 0, let parts = upload.parts, let part = upload.waiting.readSlice(length: count) else { return }
        upload.parts = try await client.add(part, to: parts)
        upload.waiting.discardReadBytes()
    }

    /// Sends the rest.
    private func sent(_ upload: inout Open) async throws -> S3Multipart? {
        try await send(&upload, upload.waiting.readableBytes)
        return upload.parts
    }
}
