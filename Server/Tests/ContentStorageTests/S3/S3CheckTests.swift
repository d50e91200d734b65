import ClarionTesting
import ServiceErrors
import Testing

@testable import ContentStorage

@Suite("The check of an S3 store before the start")
struct S3CheckTests {
    @Test("a store that can be used is good, and the check leaves nothing")
    func good() async throws {
        let bench = try await S3Bench()
        for options in [try bench.options(), try bench.options(isSecure: true), try bench.options(key: bench.server.keys.lent)] {
            try await bench.with(options) { store in
                try await store.check()
                #expect(try await S3Bench.leftovers(in: store).isEmpty)
            }
        }
    }

    /// The sentence of the check, which must not hold the secret.
    private func sentence(_ bench: S3Bench, _ options: S3Options) async throws -> String {
        try await bench.with(options) { store in
            let error = await #expect(throws: ServiceError.self) { try await store.check() }
            #expect(error?.code == .storageUnavailable)
            let detail = try #require(error?.detail)
            #expect(!detail.contains(options.credentials.secret))
            #expect(!detail.contains(bench.bucket))
            return detail
        }
    }

    @Test("a wrong bucket, key or secret, and a key that may not write, are distinguished")
    func refused() async throws {
        let bench = try await S3Bench()
        let good = try bench.options()
        func changed(bucket: String? = nil, id: String? = nil, secret: String? = nil) -> S3Options {
            var options = good
            options.location = S3Location(
                endpoint: good.location.endpoint, region: good.location.region, bucket: bucket ?? good.location.bucket)
            options.credentials = S3Credentials(
                keyID: id ?? good.credentials.keyID, secret: secret ?? good.credentials.secret)
            return options
        }
        #expect(try await sentence(bench, changed(bucket: "no-such-bucket-here")).contains("s3-bucket"))
        #expect(try await sentence(bench, changed(id: "AKIANOBODYNOBODYNOBO")).contains("s3-key-id"))
        #expect(try await sentence(bench, changed(secret: "wrong-secret")).contains("s3-secret"))
        let listing = try bench.options(key: bench.server.keys.listing)
        #expect(try await sentence(bench, listing).contains("policy"))
    }

    @Test("an unreachable store and one with an untrusted certificate are distinguished")
    func unreachable() async throws {
        let bench = try await S3Bench()
        var untrusted = try bench.options(isSecure: true)
        untrusted.trustRootsPath = nil
        #expect(try await sentence(bench, untrusted).contains("certificate"))
        let proxy = try await FaultProxy(to: bench.server.plain)
        try await proxy.stop()
        let gone = try bench.options(port: proxy.port)
        #expect(try await sentence(bench, gone).contains("nothing answers"))
    }

    @Test("certificates that cannot be read stop the start")
    func certificates() async throws {
        let bench = try await S3Bench()
        var options = try bench.options(isSecure: true)
        options.trustRootsPath = "/nowhere/at/all.pem"
        #expect(throws: ServiceError.self) { _ = try S3ContentStore(options) }
    }
}
