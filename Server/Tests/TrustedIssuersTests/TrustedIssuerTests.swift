import Testing

@testable import TrustedIssuers

@Suite struct TrustedIssuerTests {
    private typealias Samples = TokenSamples

    /// The problems of the usual settings with some fields changed, as they are shown.
    private func problems(_ changes: [String: [String]]) async throws -> [String] {
        do {
            _ = try await Samples.issuer(changes)
            return []
        } catch let problems as IssuerProblems { return problems.list.map(\.description) }
    }

    private func onlyProblem(_ changes: [String: [String]]) async throws -> String? {
        let problems = try await problems(changes)
        #expect(problems.count <= 1, "\(problems)")
        return problems.first
    }

    @Test("what settings leave out has the documented values")
    func defaults() async throws {
        let issuer = try await TrustedIssuer(
            fields: ["issuer": [Samples.issuer], "audiences": ["clarion"], "algorithms": ["RS256"]])
        #expect(issuer.keySource == .discovery(try #require(WebAddress(Samples.issuer))))
        #expect(issuer.userClaim == .subject && issuer.tagsClaim == nil && issuer.roleClaim == nil && issuer.roleRules.isEmpty)
        #expect(issuer.tokenKind == .any && issuer.clients.isEmpty && !issuer.createsUsers && !issuer.adoptsUsers)
        #expect(issuer.leeway == .seconds(60) && issuer.longestLife == .seconds(86_400))
    }

    @Test("every field is read")
    func everyField() async throws {
        let issuer = try await Samples.issuer([
            "audiences": ["a", "b"], "keys-document": [], "keys-address": ["https://keys.example.test/jwks?tenant=1"],
            "algorithms": ["ES384", "Ed25519"], "user-claim": ["/oid"], "tags-claim": ["/cognito:groups"],
            "role-claim": ["/roles"],
            "role-values": ["a=b=sender"], "token-kind": ["access"], "clients": ["app"], "leeway-seconds": ["0"],
            "longest-life-seconds": ["3600"], "create-users": ["true"],
            "adopt-users": ["true"],
        ])
        #expect(issuer.audiences == ["a", "b"] && issuer.clients == ["app"] && issuer.algorithms == [.es384, .edDSA])
        #expect(issuer.keySource == .address(try #require(WebAddress("https://keys.example.test/jwks?tenant=1"))))
        #expect(
            issuer.userClaim.text == "/oid" && issuer.tagsClaim?.text == "/cognito:groups" && issuer.roleClaim?.text == "/roles")
        #expect(issuer.roleRules == [TrustedIssuer.RoleRule(value: "a=b", role: .sender)] && issuer.tokenKind == .access)
        #expect(issuer.leeway == .zero && issuer.longestLife == .seconds(3_600) && issuer.createsUsers && issuer.adoptsUsers)
    }

    @Test("all problems are reported at once, each with its field")
    func allProblems() async throws {
        let found = try await problems([
            "issuer": [], "audiences": [], "algorithms": ["HS256", "none"], "user-claim": ["sub"], "token-kind": ["refresh"],
            "leeway-seconds": ["-1"], "longest-life-seconds": ["soon"], "create-users": ["yes"], "keys-address": ["ftp://x"],
            "color": ["red"],
        ])
        let fields = [
            "issuer", "audiences", "algorithms", "user-claim", "token-kind", "leeway-seconds", "longest-life-seconds",
            "create-users",
            "keys-document", "color",
        ]
        for field in fields { #expect(found.contains { $0.hasPrefix(field + " ") }, "\(field): \(found)") }
        #expect(found.count == fields.count + 1)
    }

    @Test("no symmetric algorithm and no none can be set", arguments: ["HS256", "HS512", "none", "None", "RS512", "es256", ""])
    func algorithms(_ name: String) async throws {
        #expect(
            try await problems(["algorithms": [name]]).contains {
                $0.hasPrefix("algorithms has \"\(name)\", which is none of RS256")
            })
        #expect(
            try await onlyProblem(["algorithms": ["EdDSA", "Ed25519"], "keys-document": [Raw.keySet(SigningKey.ed25519.jwk())]])
                == "algorithms has EdDSA twice")
    }

    @Test("the role admin cannot be given by a token")
    func admin() async throws {
        #expect(
            try await onlyProblem(["role-claim": ["/roles"], "role-values": ["ops=admin"]])
                == "role-values gives the role admin, which no token can give")
        #expect(try await onlyProblem(["role-claim": ["/roles"], "role-values": ["ops=root"]])?.contains("\"root\"") == true)
        #expect(try await onlyProblem(["role-claim": ["/roles"], "role-values": ["sender"]])?.contains("not value=role") == true)
        #expect(try await onlyProblem(["role-claim": ["/roles"]]) == "role-values and role-claim need each other")
        #expect(try await onlyProblem(["role-values": ["ops=sender"]]) == "role-values and role-claim need each other")
    }

    @Test("an issuer that is found by discovery is an https address; another says where its keys are")
    func issuerAddress() async throws {
        for issuer in ["my backend", "", "a\u{0}b"] {
            #expect(try await onlyProblem(["issuer": [issuer]])?.hasPrefix("issuer ") == true)
        }
        #expect(try await onlyProblem(["issuer": ["my-backend"]]) == nil)
        for issuer in ["my-backend", "http://id.example.test", "https://id.example.test?tenant=1", "https://id.example.test#x"] {
            #expect(
                try await onlyProblem(["issuer": [issuer], "keys-document": []])?.hasPrefix("issuer must be an https") == true)
        }
        #expect(try await onlyProblem(["issuer": ["http://127.0.0.1:8080"], "keys-document": []]) == nil)
    }

    @Test("keys are at an address or in a file, and not in both")
    func keys() async throws {
        #expect(
            try await onlyProblem(["keys-address": ["https://keys.example.test"]])
                == "keys-document and keys-address exclude each other")
        #expect(try await onlyProblem(["keys-document": ["{}"]])?.hasPrefix("keys-document cannot be read") == true)
        #expect(
            try await onlyProblem(["keys-document": [Raw.keySet(SigningKey.es256.jwk("k1", ["d": "\"AQAB\""]))]])
                == "keys-document has no usable key (1 private or symmetric key)")
        #expect(try await onlyProblem(["keys-document": ["{\"keys\":[]}"]]) == "keys-document has no usable key")
    }

    @Test("a value is given once, and not empty")
    func values() async throws {
        #expect(try await onlyProblem(["audiences": ["a", "a"]]) == "audiences has a value twice")
        #expect(try await onlyProblem(["audiences": [""]]) == "audiences must have values of 1 to 512 bytes")
        #expect(try await onlyProblem(["user-claim": ["/a", "/b"]]) == "user-claim must have exactly one value")
        #expect(try await onlyProblem(["leeway-seconds": ["301"]]) == "leeway-seconds must be a whole number from 0 to 300")
    }

    @Test("an issuer that stands twice in a list is found")
    func doubled() async throws {
        let issuer = try await Samples.issuer()
        let other = try await Samples.issuer(["issuer": ["https://other.example.test"]])
        #expect(TrustedIssuer.doubled(in: [issuer, other]).isEmpty)
        #expect(TrustedIssuer.doubled(in: [issuer, other, issuer]) == [Samples.issuer])
    }

    @Test("a JSON Pointer is read as RFC 6901 says")
    func pointers() throws {
        let claims = try #require(
            ClaimValue(Array("{\"a\":{\"b/c\":1,\"~1\":2,\"é\":3},\"https://x.test/roles\":[\"r\"],\"0\":4}".utf8)))
        for (pointer, number) in [("/a/b~1c", "1"), ("/a/~01", "2"), ("/a/é", "3"), ("/0", "4")] {
            guard case .number(let text)? = ClaimPointer(pointer)?.value(in: claims) else {
                Issue.record("\(pointer)")
                continue
            }
            #expect(text == number)
        }
        #expect(ClaimPointer("/https:~1~1x.test~1roles")?.value(in: claims)?.texts == ["r"])
        for pointer in ["/a/e\u{301}", "/b", "/a/b", "/https:~1~1x.test~1roles/0"] {
            #expect(try #require(ClaimPointer(pointer)).value(in: claims) == nil)
        }
        for text in ["", "sub", "/", "//a", "/a/", "/a~", "/a~2", "#/a", "/" + String(repeating: "a", count: 256)] {
            #expect(ClaimPointer(text) == nil, "\(text)")
        }
    }

    @Test("an address for keys is https, or this machine's http")
    func addresses() {
        for text in [
            "https://a.test", "https://a.test/", "https://a.test:8443/x?y=z", "https://[2001:db8::1]/x", "http://localhost:80/x",
            "http://127.0.0.1/x", "http://127.1.2.3", "http://[::1]:8080/",
            "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
        ] { #expect(WebAddress(text) != nil, "\(text)") }
        for text in [
            "", "a.test", "//a.test", "ftp://a.test", "HTTPS://a.test", "https:a.test", "https://", "https:///x",
            "https://a.test#x",
            "https://a@b.test", "https://a.test:0", "https://a.test:65536", "https://a.test:", "https://a.test:8x",
            "https://a b.test",
            "https://a.test/é", "https://a.test/\n", "https://[::1", "https://[x", "https://[]/", "http://a.test",
            "http://127.0.0.1.a.test",
            "http://localhost.", "http://0.0.0.0", "http://127.1", "http://2130706433", "http://[::ffff:127.0.0.1]",
            "http://a.test:80?@localhost",
            "https://a.test\\@b.test", "https://a_b.test",
        ] { #expect(WebAddress(text) == nil, "\(text)") }
    }
}
