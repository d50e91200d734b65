import ClarionTesting
import Foundation
import NIOConcurrencyHelpers
import PushHub
import Testing

@testable import ContentStorage

/// Where the files of jobs lie.
enum JobFilePlace: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case disk
    case bucket

    var testDescription: String { rawValue }

    /// A new, empty place.
    func open(_ folder: String) async throws -> any ContainerStore {
        switch self {
        case .disk: return try DiskContainerStore(root: folder + "/containers", maximumBytes: 1 << 30)
        case .bucket: return try await Self.files(in: Self.makeBucket())
        }
    }

    /// A new bucket in the store of the tests; its name.
    static func makeBucket() async throws -> String {
        let name = "test-\(UUID().uuidString.lowercased())"
        _ = try await contents(in: name, through: nil).client.perform(S3Client.Request(method: "PUT"))
        return name
    }

    /// The files in a bucket, counted once, reached over a proxy if its port is given.
    static func files(in bucket: String, through port: Int? = nil) async throws -> S3ContainerStore {
        let files = S3ContainerStore(beside: try await contents(in: bucket, through: port), maximumBytes: 1 << 30)
        try await files.count()
        return files
    }

    /// Connections are closed with the process.
    private static let kept = NIOLockedValueBox<[S3ContentStore]>([])

    private static func contents(in bucket: String, through port: Int?) async throws -> S3ContentStore {
        let server = try await ThrowAwayS3.running()
        let endpoint = try #require(S3Endpoint("http://127.0.0.1:\(port ?? server.plain)"))
        var options = S3Options(
            location: S3Location(endpoint: endpoint, region: "us-east-1", bucket: bucket),
            credentials: S3Credentials(keyID: server.keys.all.id, secret: server.keys.all.secret))
        if port != nil { (options.requestDeadline, options.attemptDeadline) = (.seconds(15), .seconds(7)) }
        let store = try S3ContentStore(options)
        kept.withLockedValue { $0.append(store) }
        return store
    }
}
