import RichPushModel
import Testing
import WireText

@testable import ContentStorage

@Suite("Signature version 4")
struct S3SignerTests {
    /// The examples of the Amazon S3 API reference, "Signature Calculations for the Authorization Header: Transferring Payload in a
    /// Single Chunk".
    struct Published: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = "GET"
        var path = "/"
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        var names: String
        var signature: String

        static let all = [
            Published(
                testDescription: "GET Object", path: "/test.txt", headers: [("Range", "bytes=0-9")],
                names: "host;range;x-amz-content-sha256;x-amz-date",
                signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            Published(
                testDescription: "PUT Object", method: "PUT", path: PercentEncoding.encode("/test$file.text", keepsSlashes: true),
                headers: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                hash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
                names: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
            Published(
                testDescription: "GET Bucket Lifecycle", query: [("lifecycle", "")],
                names: "host;x-amz-content-sha256;x-amz-date",
                signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            Published(
                testDescription: "GET Bucket", query: [("prefix", "J"), ("max-keys", "2")],
                names: "host;x-amz-content-sha256;x-amz-date",
                signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ]
    }

    /// The key of those examples, which belongs to no account.
    static let example = S3Signer(
        credentials: S3Credentials(keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    static let may2013 = Timestamp(seconds: 1_369_353_600)

    @Test("the published examples come out to the digit", arguments: Published.all)
    func published(_ example: Published) throws {
        let headers = Self.example.headers(
            for: .init(
                method: example.method, host: "examplebucket.s3.amazonaws.com", path: example.path, query: example.query,
                headers: example.headers),
            payload: .signed(example.hash), at: Self.may2013)
        let scope = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"
        #expect(
            headers.last?.value
                == "AWS4-HMAC-SHA256 Credential=\(scope), SignedHeaders=\(example.names), Signature=\(example.signature)")
    }

    @Test("the published link comes out to the digit")
    func publishedLink() {
        let query = Self.example.link(
            for: .init(method: "GET", host: "examplebucket.s3.amazonaws.com", path: "/test.txt"), lifetime: .seconds(86_400),
            at: Self.may2013)
        #expect(query.last?.name == "X-Amz-Signature")
        #expect(query.last?.value == "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    /// What botocore 1.44.5 signs at 2026-02-28T23:59:59Z, with a secret and a token that hold the characters that are escaped.
    struct Recorded: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method: String
        var host = "127.0.0.1:9000"
        var path: String
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body: [UInt8]? = []
        var token: String?
        var signature: String

        static let all = [
            Recorded(
                testDescription: "an object", method: "PUT", path: "/bucket/a/b/objects/00ff",
                headers: [("Content-Type", "application/octet-stream")], body: Array("hello".utf8),
                signature: "aeaa57f650cee6260f81e2698224910ec2f5e5bb617f6b165e97bcd8f846342b"),
            Recorded(
                testDescription: "a list", method: "GET", path: "/bucket",
                query: [
                    ("list-type", "2"), ("prefix", "a/b/objects/"), ("max-keys", "10"), ("start-after", "a/b/objects/00"),
                ], signature: "324a8649c3ed4f1cb6d823b4aa4429ba66edf428134ae671cafad5e34d29bdda"),
            Recorded(
                testDescription: "a range with a lent key over TLS", method: "GET", host: "bucket.s3.eu-central-1.amazonaws.com",
                path: "/objects/00ff", headers: [("Range", "bytes=0-65535")], body: nil, token: "session/token+==",
                signature: "56120ff066f1ffbf88c1ca2e193fe18cf4413bd49de71213ed31fde2a3163cca"),
            Recorded(
                testDescription: "the begin of an upload in parts", method: "POST", path: "/bucket/incoming/1-2",
                query: [("uploads", "")], headers: [("Content-Type", "application/octet-stream")],
                signature: "44e8a2537ff1c59d595c1f4905efef0cc2827a9e73338b2b0dedd9818fe9374a"),
            Recorded(
                testDescription: "a part over TLS", method: "PUT", host: "store.example.com", path: "/bucket/incoming/1-2",
                query: [("partNumber", "3"), ("uploadId", "Ab+c/==~x")], body: nil,
                signature: "98590e4e493937c1741781da4ab8ef8388cf4ee2c2312fab8890373e6a2c4903"),
            Recorded(
                testDescription: "a copy of a part", method: "PUT", path: "/bucket/objects/00ff",
                headers: [("x-amz-copy-source", "/bucket/incoming/1-2"), ("x-amz-copy-source-range", "bytes=0-9")],
                signature: "d8b0f04e7070efcf65fae7a4bdcb302c109261b467cb5d018ac256494db84be4"),
        ]
    }

    private static let february = Timestamp(seconds: 1_772_323_199)

    private func signer(_ token: String?) -> S3Signer {
        S3Signer(
            credentials: S3Credentials(keyID: "EXAMPLEKEYID", secret: "example/secret+with=signs", sessionToken: token),
            region: "eu-central-1")
    }

    @Test("requests are signed as another implementation signs them", arguments: Recorded.all)
    func recorded(_ request: Recorded) throws {
        let headers = signer(request.token).headers(
            for: .init(
                method: request.method, host: request.host, path: request.path, query: request.query, headers: request.headers),
            payload: request.body.map { .signed(S3Signer.hash(of: $0)) } ?? .unsigned, at: Self.february)
        let authorization = try #require(headers.last)
        #expect(authorization.name == "Authorization")
        #expect(authorization.value.hasSuffix("Signature=\(request.signature)"))
        #expect(headers.contains { $0.name == "Host" && $0.value == request.host })
        #expect(headers.contains { $0 == ("x-amz-date", "20260228T235959Z") })
    }

    @Test("links are signed as another implementation signs them")
    func recordedLinks() {
        func signature(
            _ token: String?, _ lifetime: Duration, _ query: [(name: String, value: String)] = []
        ) -> String? {
            signer(token).link(
                for: .init(method: "GET", host: "store.example.com", path: "/bucket/objects/00ff", query: query),
                lifetime: lifetime, at: Self.february
            ).last?.value
        }
        #expect(
            signature(nil, .seconds(300), [("response-content-type", "image/png")])
                == "968e59c62bfc89cb7eee2527581c72e8660fac66b829072a6846d26c0ad754cb")
        #expect(
            signature("session/token+==", .seconds(60)) == "6cc477f39ff84b4a5680e8da0bb92020d46716ca07bce8e5909565854b14e051")
    }

    @Test("the secret and the token of a key are never printed")
    func secret() {
        let credentials = S3Credentials(keyID: "visible", secret: "hunter2", sessionToken: "hunter3")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(text.contains("visible"))
            #expect(!text.contains("hunter"))
        }
    }
}
