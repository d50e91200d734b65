import ClarionTesting
import Testing

@testable import TrustedIssuers

@Suite struct KeySetDownloadTests {
    private func fetch(_ server: IssuerTestServer, issuer: String = TokenSamples.issuer) async throws -> KeySetDownload.Result {
        let address = try #require(WebAddress(issuer))
        return try await KeySetDownload(issuer: issuer, fetching: server).discovered(at: address)
    }

    @Test(
        "a discovery document of another issuer, or without an https address of keys, is refused",
        arguments: [
            ["issuer": "\"https://id.example.test/\""], ["issuer": "\"https://evil.example.test\""], ["issuer": nil],
            ["issuer": "null"],
            ["jwks_uri": nil], ["jwks_uri": "null"], ["jwks_uri": "\"http://keys.example.test/jwks\""],
            ["jwks_uri": "\"http://127.0.0.1/jwks\""], ["jwks_uri": "\"https://localhost/jwks\""],
            ["jwks_uri": "\"file:///etc/passwd\""],
            ["jwks_uri": "\"https://user@keys.example.test/jwks\""],
        ] as [[String: String?]])
    func refused(_ changes: [String: String?]) async {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        server.set(IssuerTestServer.discoveryAddress, IssuerTestServer.discovery(changes))
        await #expect(throws: KeySetFault.self) { try await fetch(server) }
        // No address but that of discovery was asked, this machine's least of all.
        #expect(server.totalCount == 1)
    }

    @Test(
        "a status other than 200 and a document above 64 KiB are failures", arguments: [201, 204, 301, 302, 304, 401, 404, 500])
    func status(_ status: Int) async {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        server.set(IssuerTestServer.keysAddress, Raw.keySet(SigningKey.es256.jwk()), status: status)
        await #expect(throws: KeySetFault.self) { try await fetch(server) }
        server.set(IssuerTestServer.keysAddress, Raw.keySet() + String(repeating: " ", count: 65_536))
        await #expect(throws: KeySetFault.self) { try await fetch(server) }
    }

    @Test("a doubled name makes a discovery document ambiguous")
    func doubled() async {
        let server = IssuerTestServer(keys: SigningKey.es256.jwk())
        let document = IssuerTestServer.discovery().dropLast() + ",\"issuer\":\"\(TokenSamples.issuer)\"}"
        server.set(IssuerTestServer.discoveryAddress, String(document))
        await #expect(throws: KeySetFault.self) { try await fetch(server) }
    }

    @Test("an issuer with a path keeps it, and a slash at its end is not doubled")
    func path() async throws {
        for issuer in ["https://id.example.test/tenant", "https://id.example.test/tenant/"] {
            let server = IssuerTestServer(keys: SigningKey.es256.jwk())
            server.set(
                "https://id.example.test/tenant/.well-known/openid-configuration",
                IssuerTestServer.discovery(["issuer": "\"\(issuer)\""]))
            _ = try await fetch(server, issuer: issuer)
            #expect(server.count() == 1)
        }
    }

    @Test("the life of a key set is what Cache-Control leaves, from five minutes to a day")
    func life() {
        let cases: [([(String, String)], Int)] = [
            ([], 3_600), ([("Cache-Control", "public")], 3_600), ([("cache-control", "public, max-age=7200")], 7_200),
            ([("Cache-Control", "MAX-AGE = 7200")], 7_200), ([("Cache-Control", "max-age=\"7200\"")], 7_200),
            ([("Cache-Control", "max-age=7200"), ("Age", "200")], 7_000),
            ([("Cache-Control", "max-age=7200"), ("Age", "-5")], 7_200),
            ([("Cache-Control", "max-age=600"), ("Age", "599")], 300), ([("Cache-Control", "max-age=0")], 300),
            ([("Cache-Control", "max-age=1")], 300), ([("Cache-Control", "max-age=31536000")], 86_400),
            ([("Cache-Control", "no-store, max-age=7200")], 300), ([("Cache-Control", "no-cache")], 300),
            ([("Cache-Control", "max-age=7200"), ("Cache-Control", "max-age=600")], 600),
            ([("Cache-Control", "s-maxage=9000")], 3_600),
            ([("Cache-Control", "max-age=soon")], 300), ([("Cache-Control", "max-age=99999999999999999999")], 300),
            ([("Cache-Control", "max-age=-1")], 300), ([("Expires", "0")], 3_600),
        ]
        for (headers, seconds) in cases {
            let answer = FetchedDocument(status: 200, headers: headers.map { (name: $0.0, value: $0.1) }, body: [])
            #expect(KeySetDownload.life(of: answer) == .seconds(seconds), "\(headers)")
        }
    }
}
