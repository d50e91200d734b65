import AppBackend
import NIOCore
import ServiceErrors

extension S3ContentStore {
    /// Tries what the store is used for, with an object of a few bytes that is gone afterwards: writing, listing, reading, removing.
    ///
    /// Throws `storage-unavailable` with a sentence for the operator that says what to look at.
    public func check() async throws {
        try await explained { try await tryEverything() }
    }

    /// What the check before the start comes to.
    public enum Condition: Hashable, Sendable {
        case good
        /// The store is away for the moment, with a sentence.
        case away(String)
        /// It does not take what it is asked, and will not until somebody changes something, with a sentence.
        case refused(String)
    }

    /// Tries what `check` tries, and tells a store that is away from one that refuses.
    public func condition() async throws -> Condition {
        do {
            try await tryEverything()
            return .good
        } catch let fault as S3Fault {
            return fault.isPassing || fault == .busy ? .away(fault.sentence) : .refused(fault.sentence)
        }
    }

    /// Asks whether the store answers and lets this key read, with one request that changes nothing and is not repeated.
    ///
    /// Throws `storage-unavailable`.
    public func ping() async throws {
        try await explained { _ = try await client.forPhones.once.beginning(of: S3Keys.probe, 1) }
    }

    private func tryEverything() async throws {
        let key = S3Keys.upload()
        let bytes = ByteBuffer(string: "clarion")
        // The list first: it needs the bucket, and an answer to it names what is wrong with key, secret or region.
        _ = try await client.list(S3Keys.objects, limit: 1)
        try await client.put(bytes, at: key)
        let read = try await client.beginning(of: key, bytes.readableBytes)
        try await client.delete(key)
        guard read?.bytes == bytes else { throw S3Fault.malformed("what was written did not come back") }
    }
}
