import AppBackend
import Crypto
import NIOConcurrencyHelpers
import NIOCore
import ServiceErrors

/// An upload on its way to the store: hashed and counted as it comes. Small ones wait in memory and go in one piece. Large ones go in
/// parts under a name by chance, and are copied inside the store when their digest is known.
final class S3ContentUpload: ContentUpload {
    private struct Open {
        var hash = SHA256()
        var buffer = S3UploadBuffer()
    }

    private let client: S3Client
    private let limit: Int64
    private let slot: Slots.Slot
    private let state = S3UploadState(Open())

    init(_ client: S3Client, limit: Int64, slot: Slots.Slot) {
        self.client = client
        self.limit = limit
        self.slot = slot
    }

    func write(_ chunk: [UInt8]) async throws {
        try await step { upload in
            guard upload.buffer.count + Int64(chunk.count) <= self.limit else {
                throw ServiceError(.contentTooLarge, "a content has at most \(self.limit) bytes")
            }
            upload.hash.update(data: chunk)
            try await upload.buffer.take(chunk, self.client) { S3Keys.upload() }
            return true
        }
    }

    func finish() async throws -> StoredBytes {
        var stored: StoredBytes?
        try await step { upload in
            guard let digest = ContentDigest(bytes: upload.hash.finalize()) else { throw S3UploadBuffer.over }
            if upload.buffer.parts == nil {
                let bytes = upload.buffer.waiting
                try await S3Removal(client: self.client).settle(digest) {
                    try await self.client.put(bytes, at: S3Keys.object(digest))
                }
            } else {
                try await self.place(try await upload.buffer.sendRest(self.client), upload.buffer.count, as: digest)
            }
            stored = StoredBytes(digest: digest, byteCount: upload.buffer.count)
            return false
        }
        guard let stored else { throw S3UploadBuffer.over }
        return stored
    }

    func abort() async { if let taken = state.close() { await discard(taken) } }

    private func step(_ work: (inout Open) async throws -> Bool) async throws { try await state.step(work, failed: discard) }

    /// Makes the parts an object and copies it to its place.
    private func place(_ parts: S3Multipart?, _ size: Int64, as digest: ContentDigest) async throws {
        guard let parts else { throw S3UploadBuffer.over }
        try await client.complete(parts)
        try await S3Removal(client: client).settle(digest) {
            try await self.client.copy(parts.key, size: size, to: S3Keys.object(digest))
        }
        // The content is kept; what is left of the way it came is taken later if not now.
        try? await client.delete(parts.key)
    }

    /// Takes back what was sent. It is done even when the caller was cancelled, and awaited; what it cannot reach is taken later.
    private func discard(_ upload: Open) async {
        guard let parts = upload.buffer.parts else { return }
        let client = client
        await Task {
            try? await client.abort(parts)
            // It may have been completed already.
            try? await client.delete(parts.key)
        }.value
    }
}

/// The state of an upload, of whose calls one is under way at a time.
final class S3UploadState<Open: Sendable>: Sendable {
    private enum State {
        case open(Open)
        /// A call is under way.
        case busy
        case closed
    }

    private let state: NIOLockedValueBox<State>

    init(_ open: Open) { state = NIOLockedValueBox(.open(open)) }

    /// Ends the upload; what was open, if it was and no call is under way.
    func close() -> Open? { take(leaving: .closed) }

    /// Does one call's work on the state; whether the upload goes on is what the work returns. A failure ends the upload, and `failed`
    /// takes back what was done.
    func step(_ work: (inout Open) async throws -> Bool, failed: (Open) async -> Void) async throws {
        guard var open = take(leaving: .busy) else { throw S3UploadBuffer.over }
        do {
            let goesOn = try await work(&open)
            state.withLockedValue { [open] in $0 = goesOn ? .open(open) : .closed }
        } catch {
            state.withLockedValue { $0 = .closed }
            await failed(open)
            throw (error as? S3Fault)?.serviceError ?? error
        }
    }

    private func take(leaving next: State) -> Open? {
        state.withLockedValue { state in
            guard case .open(let open) = state else { return nil }
            state = next
            return open
        }
    }
}

/// The bytes of an upload: what waits for the next part, and the parts that were sent.
struct S3UploadBuffer {
    private(set) var count: Int64 = 0
    private(set) var waiting = ByteBuffer()
    private(set) var parts: S3Multipart?

    static let over = ServiceError(.internal, "this upload is over")

    /// Takes bytes in and sends whole parts. The first part begins an object under `key`.
    mutating func take(_ chunk: [UInt8], _ client: S3Client, key: () -> String) async throws {
        count += Int64(chunk.count)
        waiting.writeBytes(chunk)
        // What has exactly the bytes of one part goes in one piece.
        while waiting.readableBytes > client.options.partBytes {
            if parts == nil { parts = try await client.begin(key()) }
            try await send(client.options.partBytes, client)
        }
    }

    /// Sends the rest as the last part; `nil` when no part was sent before.
    mutating func sendRest(_ client: S3Client) async throws -> S3Multipart? {
        try await send(waiting.readableBytes, client)
        return parts
    }

    /// Sends the first bytes of those that wait as the next part.
    private mutating func send(_ count: Int, _ client: S3Client) async throws {
        guard count > 0, let begun = parts, let part = waiting.readSlice(length: count) else { return }
        parts = try await client.add(part, to: begun)
        waiting.discardReadBytes()
    }
}
