import AppBackend
import NIOCore
import ServiceErrors

extension S3ContentStore {
    /// Tries what the store is used for, with an object of a few bytes that is gone afterwards: writing, listing, reading, removing.
    ///
    /// Throws `storage-unavailable` with a sentence for the operator that says what to look at.
    public func check() async throws {
        try await explained {
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
}
