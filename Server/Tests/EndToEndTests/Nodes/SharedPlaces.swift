import ClarionTesting
import Foundation
import Testing

@testable import ContentStorage

/// What several servers share, as the settings that name it.
enum SharedPlaces {
    /// One key for all, as every server on one database needs it.
    static let masterKey = ["CLARION_MASTER_KEY": Data(repeating: 7, count: 32).base64EncodedString()]

    /// A new bucket, reached over a proxy if its port is given.
    static func bucket(through port: Int? = nil) async throws -> [String: String] {
        let store = try await ThrowAwayS3.running()
        let name = "test-\(UUID().uuidString.lowercased())"
        let bucket = try S3ContentStore(options(name, port: store.plain, store))
        _ = try await bucket.client.perform(S3Client.Request(method: "PUT"))
        await bucket.shutDown()
        return [
            "CLARION_S3_BUCKET": name, "CLARION_S3_ENDPOINT": "http://127.0.0.1:\(port ?? store.plain)",
            "CLARION_S3_KEY_ID": store.keys.all.id, "CLARION_S3_SECRET": store.keys.all.secret,
        ]
    }

    /// A way to the bucket of such settings that no proxy stands in.
    static func open(_ settings: [String: String]) async throws -> S3ContentStore {
        let store = try await ThrowAwayS3.running()
        return try S3ContentStore(options(try #require(settings["CLARION_S3_BUCKET"]), port: store.plain, store))
    }

    /// A new database of a PostgreSQL server, reached over a proxy if its port is given.
    static func database(at server: ThrowAwayPostgreSQL, through port: Int? = nil) async throws -> [String: String] {
        let name = "nodes_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
        _ = try await server.run(script: "CREATE DATABASE \(name);")
        let url = port.map { "postgres://clarion@127.0.0.1:\($0)/\(name)?sslmode=disable" } ?? server.url(database: name)
        // The throw-away server does not wait for the disk.
        return ["CLARION_DATABASE_URL": url, "CLARION_DATABASE_WITHOUT_FSYNC": "true"].merging(masterKey) { $1 }
    }

    private static func options(_ bucket: String, port: Int, _ store: ThrowAwayS3) throws -> S3Options {
        S3Options(
            location: S3Location(
                endpoint: try #require(S3Endpoint("http://127.0.0.1:\(port)")), region: "us-east-1", bucket: bucket),
            credentials: S3Credentials(keyID: store.keys.all.id, secret: store.keys.all.secret))
    }
}
