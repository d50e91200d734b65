import AppBackend
import AsyncHTTPClient
import ClarionTesting
import Foundation
import NIOCore
import NIOHTTP1
import RichPushModel
import StorageConformance
import Testing

@testable import ContentStorage

/// A bucket of its own in the store of the tests.
struct S3Bench: Sendable {
    let server: ThrowAwayS3
    let bucket: String

    init() async throws {
        server = try await ThrowAwayS3.running()
        bucket = "test-\(UUID().uuidString.lowercased())"
        _ = try await with { try await $0.client.perform(S3Client.Request(method: "PUT")) }
    }

    /// How to use the bucket; over a proxy if its port is given.
    func options(
        prefix: String = "clarion", port: Int? = nil, isSecure: Bool = false, key: ThrowAwayS3.Key? = nil
    ) throws -> S3Options {
        let address = isSecure ? "https://127.0.0.1:\(port ?? server.secure)" : "http://127.0.0.1:\(port ?? server.plain)"
        let key = key ?? server.keys.all
        var options = S3Options(
            location: S3Location(
                endpoint: try #require(S3Endpoint(address)), region: "us-east-1", bucket: bucket, prefix: prefix),
            credentials: S3Credentials(keyID: key.id, secret: key.secret, sessionToken: key.token))
        if isSecure { options.trustRootsPath = server.authority }
        return options
    }

    /// Runs the body with a store, which is closed afterwards.
    func with<Result>(_ options: S3Options? = nil, _ body: (S3ContentStore) async throws -> Result) async throws -> Result {
        let store = try S3ContentStore(try options ?? self.options())
        do {
            let result = try await body(store)
            await store.shutDown()
            return result
        } catch {
            await store.shutDown()
            throw error
        }
    }

    /// Bytes that look like chance and are the same each time.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    /// Stores bytes in pieces of the size in which requests come.
    static func store(_ bytes: [UInt8], in store: S3ContentStore) async throws -> StoredBytes {
        let upload = try await store.beginUpload(limit: Int64(bytes.count))
        var rest = bytes[...]
        while !rest.isEmpty {
            try await upload.write(Array(rest.prefix(60_000)))
            rest = rest.dropFirst(60_000)
        }
        return try await upload.finish()
    }

    /// Reads a content as a download does.
    static func read(_ digest: ContentDigest, in store: S3ContentStore) async throws -> [UInt8] {
        let reader = try #require(try await store.open(digest))
        var bytes: [UInt8] = []
        while bytes.count < Int(reader.size) {
            bytes += try await reader.read(at: Int64(bytes.count), count: min(65_536, Int(reader.size) - bytes.count))
        }
        return bytes
    }

    /// What lies in the bucket besides contents.
    static func leftovers(in store: S3ContentStore) async throws -> [String] {
        let keys = try await store.client.list(S3Keys.incoming).map(\.key) + store.client.list(S3Keys.removing).map(\.key)
        return try await keys + store.client.openUploads("").map(\.upload.key)
    }
}

extension S3Bench {
    /// Gets a URL without credentials.
    func get(_ url: String) async throws -> (status: HTTPResponseStatus, headers: HTTPHeaders, body: [UInt8]) {
        let answer = try await HTTPClient.shared.execute(HTTPClientRequest(url: url), timeout: .seconds(20))
        let body = try await answer.body.collect(upTo: 1 << 20)
        return (answer.status, answer.headers, Array(body.readableBytesView))
    }
}
