import AppBackend
import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

/// What every store of content bytes promises.
public enum ContentStorePromises {
    /// Each promise.
    public static let all: [StoragePromise<any ContentStore>] = [
        StoragePromise("bytes come back as they were stored, under their SHA-256") { store in
            let stored = try await Self.store(Array("abc".utf8), in: store)
            // FIPS 180-2, appendix B.1
            #expect(stored.digest.text == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
            #expect(stored.byteCount == 3)
            let reader = try #require(try await store.open(stored.digest))
            #expect(reader.size == 3)
            #expect(try await reader.read(at: 0, count: 3) == Array("abc".utf8))
            #expect(try await reader.read(at: 1, count: 1) == [UInt8(ascii: "b")])
            #expect(try await reader.read(at: 3, count: 0).isEmpty)
        },
        StoragePromise("chunks of any size make the same content") { store in
            var generator = SeededGenerator()
            let bytes = (0..<200_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let whole = try await Self.store(bytes, in: store)
            let upload = try await store.beginUpload(limit: 200_000)
            var rest = bytes[...]
            while !rest.isEmpty {
                let size = Int.random(in: 0...30_000, using: &generator)
                try await upload.write(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(try await upload.finish() == whole, "seed \(generator.seed)")
            let reader = try #require(try await store.open(whole.digest))
            for _ in 0..<50 {
                let start = Int.random(in: 0..<200_000, using: &generator)
                let count = Int.random(in: 0...min(70_000, 200_000 - start), using: &generator)
                let expected = Array(bytes[start..<(start + count)])
                #expect(try await reader.read(at: Int64(start), count: count) == expected, "seed \(generator.seed)")
            }
        },
        StoragePromise("an unknown digest opens nothing") { store in
            let unknown = try Self.unknown()
            #expect(try await store.open(unknown) == nil)
        },
        StoragePromise("bytes beyond the limit end the upload and leave nothing") { store in
            let upload = try await store.beginUpload(limit: 3)
            try await upload.write([1, 2, 3])
            let error = await #expect(throws: ServiceError.self) { try await upload.write([4]) }
            #expect(error?.code == .contentTooLarge)
            await #expect(throws: ServiceError.self) { _ = try await upload.finish() }
        },
        StoragePromise("an upload that was aborted cannot be finished") { store in
            let upload = try await store.beginUpload(limit: 3)
            try await upload.write([1])
            await upload.abort()
            await #expect(throws: ServiceError.self) { try await upload.write([2]) }
            await #expect(throws: ServiceError.self) { _ = try await upload.finish() }
            await upload.abort()
        },
        StoragePromise("aborting after the end takes nothing away") { store in
            let upload = try await store.beginUpload(limit: 3)
            try await upload.write([1])
            let stored = try await upload.finish()
            await upload.abort()
            #expect(try await store.open(stored.digest) != nil)
        },
        StoragePromise("removing keeps what is fresh, takes what is old, and can be repeated") { store in
            let stored = try await Self.store([7], in: store)
            #expect(try await !store.remove(stored.digest, storedBefore: Timestamp(milliseconds: 0)))
            #expect(try await store.open(stored.digest) != nil)
            #expect(try await store.remove(stored.digest, storedBefore: Timestamp(milliseconds: .max)))
            #expect(try await store.open(stored.digest) == nil)
            #expect(try await store.remove(stored.digest, storedBefore: Timestamp(milliseconds: .max)))
        },
        StoragePromise("what is being read stays readable when it is removed meanwhile") { store in
            let stored = try await Self.store([1, 2, 3], in: store)
            let reader = try #require(try await store.open(stored.digest))
            #expect(try await store.remove(stored.digest, storedBefore: Timestamp(milliseconds: .max)))
            #expect(try await reader.read(at: 0, count: 3) == [1, 2, 3])
        },
        StoragePromise("equal bytes stored at the same time are one content") { store in
            let digests = try await withThrowingTaskGroup(of: ContentDigest.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.store([9, 9, 9], in: store).digest } }
                return try await group.reduce(into: Set<ContentDigest>()) { $0.insert($1) }
            }
            #expect(digests.count == 1)
            #expect(try await store.open(try #require(digests.first))?.size == 3)
        },
    ]

    /// Stores bytes in one piece.
    public static func store(_ bytes: [UInt8], in store: any ContentStore) async throws -> StoredBytes {
        let upload = try await store.beginUpload(limit: Int64(bytes.count))
        try await upload.write(bytes)
        return try await upload.finish()
    }

    private static func unknown() throws -> ContentDigest {
        try #require(ContentDigest(String(repeating: "0", count: 64)))
    }
}
