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

    private let client: S3Client
    private let limit: Int64
    private let slot: Slots.Slot
    private let state = NIOLockedValueBox(State.open(Open()))

    init(_ client: S3Client, limit: Int64, slot: Slots.Slot) {
        self.client = client
        self.limit = limit
        self.slot = slot
    }

    func write(_ chunk: [UInt8]) async throws {
        try await step { upload in
            guard upload.count + Int64(chunk.count) <= self.limit else {
                throw ServiceError(.contentTooLarge, "a content has at most \(self.limit) bytes")
            }
            upload.count += Int64(chunk.count)
            upload.hash.update(data: chunk)
            upload.waiting.writeBytes(chunk)
            // A content of exactly one part goes in one piece.
            while upload.waiting.readableBytes > self.client.options.partBytes {
                try await self.send(&upload, self.client.options.partBytes)
            }
            return true
        }
    }

    func finish() async throws -> StoredBytes {
        var stored: StoredBytes?
        try await step { upload in
            guard let digest = ContentDigest(bytes: upload.hash.finalize()) else { throw Self.over }
            if upload.parts == nil {
                let bytes = upload.waiting
                try await S3Removal(client: self.client).settle(digest) {
                    try await self.client.put(bytes, at: S3Keys.object(digest))
                }
            } else {
                try await self.send(&upload, upload.waiting.readableBytes)
                try await self.place(&upload, as: digest)
            }
            stored = StoredBytes(digest: digest, byteCount: upload.count)
            return false
        }
        guard let stored else { throw Self.over }
        return stored
    }

    func abort() async {
        let taken = state.withLockedValue { state -> Open? in
            guard case .open(let open) = state else { return nil }
            state = .closed
            return open
        }
        if let taken { await discard(taken) }
    }

    /// Does one call's work on the state; whether the upload goes on is what the work returns. A failure ends the upload.
    private func step(_ work: (inout Open) async throws -> Bool) async throws {
        let taken = state.withLockedValue { state -> Open? in
            guard case .open(let open) = state else { return nil }
            state = .busy
            return open
        }
        guard var open = taken else { throw Self.over }
        do {
            let goesOn = try await work(&open)
            state.withLockedValue { $0 = goesOn ? .open(open) : .closed }
        } catch {
            state.withLockedValue { $0 = .closed }
            await discard(open)
            throw (error as? S3Fault)?.serviceError ?? error
        }
    }

    /// Sends the first bytes of those that wait as the next part.
    private func send(_ upload: inout Open, _ count: Int) async throws {
        if upload.parts == nil { upload.parts = try await client.begin(S3Keys.upload()) }
        guard count > 0, let parts = upload.parts, let part = upload.waiting.readSlice(length: count) else { return }
        upload.parts = try await client.add(part, to: parts)
        upload.waiting.discardReadBytes()
    }

    /// Makes the parts an object and copies it to its place.
    private func place(_ upload: inout Open, as digest: ContentDigest) async throws {
        guard let parts = upload.parts else { throw Self.over }
        try await client.complete(parts)
        let size = upload.count
        try await S3Removal(client: client).settle(digest) {
            try await self.client.copy(parts.key, size: size, to: S3Keys.object(digest))
        }
        // The content is kept; what is left of the way it came is taken later if not now.
        try? await client.delete(parts.key)
    }

    /// Takes back what was sent. It is done even when the caller was cancelled, and awaited; what it cannot reach is taken later.
    private func discard(_ upload: Open) async {
        guard let parts = upload.parts else { return }
        let client = client
        await Task {
            try? await client.abort(parts)
            // It may have been completed already.
            try? await client.delete(parts.key)
        }.value
    }

    private static let over = ServiceError(.internal, "this upload is over")
}

extension S3Client {
    /// Copies an object inside the store, in pieces that each end in time.
    func copy(_ source: String, size: Int64, to key: String) async throws {
        guard size > options.copyBytes else { return try await copy(source, to: key) }
        try await copyInParts(source, size, to: key)
    }

    /// Copies the first bytes of an object, in pieces that each end in time; the store wants them to be many enough for parts.
    func copyInParts(_ source: String, _ size: Int64, to key: String) async throws {
        var parts = try await begin(key)
        do {
            var offset: Int64 = 0
            while offset < size {
                let end = min(size, offset + options.copyBytes)
                parts = try await add(copyOf: source, offset..<end, to: parts)
                offset = end
            }
            try await complete(parts)
        } catch {
            let begun = parts
            await Task { try? await abort(begun) }.value
            throw error
        }
    }
}
