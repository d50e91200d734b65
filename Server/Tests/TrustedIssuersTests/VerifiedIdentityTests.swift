import RichPushModel
import Testing
import WireText

@testable import TrustedIssuers

@Suite struct VerifiedIdentityTests {
    private typealias Samples = TokenSamples

    private func name(_ subject: String, _ changes: [String: String?] = [:], _ settings: [String: [String]] = [:]) async throws
        -> String
    {
        try await Samples.identity(changes.merging(["sub": JSONText.string(subject)]) { $1 }, settings).userName.text
    }

    @Test("a sub that is a user name is the name, in its own case")
    func fitting() async throws {
        for subject in ["alice", "Alice", "a", "alice@example.test", "4f1c-9_.", String(repeating: "x", count: 64)] {
            #expect(try await name(subject) == subject)
        }
    }

    @Test(
        "a sub that is no user name gives a hash that is stable, short and its own",
        arguments: ["auth0|123", "alice smith", "é", "a/b", "$username", "alice\u{212A}", String(repeating: "x", count: 65)])
    func hashed(_ subject: String) async throws {
        let first = try await name(subject)
        #expect(first.hasPrefix("id-") && first.utf8.count == 35 && UserName(first) != nil)
        #expect(try await name(subject, ["jti": "\"2\""]) == first)
        #expect(try await name(subject + "|") != first)
    }

    @Test("the hash of a known identity does not change between versions")
    func vector() async throws {
        // printf 'clarion identity 1\n23\nhttps://id.example.test\nauth0|123' | sha256sum | cut -c-32
        #expect(try await name("auth0|123") == "id-1fb1e566d0aeec3021d4e8abc1b9b426")
    }

    @Test("one sub of two issuers gives two names")
    func issuers() async throws {
        let other = "https://other.example.test"
        let issuer = try await Samples.issuer(["issuer": [other]])
        let claims = Samples.claims(["iss": "\"\(other)\"", "sub": "\"auth0|123\""])
        let identity = try await Samples.verifier(issuer).verify(Samples.token(claims: claims))
        #expect(identity.userName.text != (try await name("auth0|123")) && identity.userName.text.hasPrefix("id-"))
    }

    @Test("a sub in the form of a hash is hashed, so no user takes the name of another beforehand")
    func squatting() async throws {
        let victim = try await name("auth0|123")
        #expect(try await name(victim) != victim)
        #expect(try await name(victim.uppercased()).lowercased() != victim)
        #expect(try await name("id-alice") == "id-alice")
    }

    @Test("the name may be of another claim, while the identity stays that of sub")
    func userClaim() async throws {
        let settings = ["user-claim": ["/profile/preferred~1name"]]
        let identity = try await Samples.identity(["profile": "{\"preferred/name\":\"bob\"}"], settings)
        #expect(identity.userName.text == "bob" && identity.subject == "alice")
        let odd = try await Samples.identity(["profile": "{\"preferred/name\":\"bob smith\"}"], settings)
        #expect(odd.userName.text.hasPrefix("id-"))
        for value in [nil, "{}", "{\"preferred/name\":7}", "{\"preferred/name\":\"\"}", "[\"bob\"]"] as [String?] {
            let token = Samples.token(claims: Samples.claims(["profile": value]))
            #expect(try await Samples.reason(token, settings) == .userClaim)
        }
    }

    @Test("without a tags claim a token says nothing of tags; with one an absent claim means none")
    func noTags() async throws {
        #expect(try await Samples.identity(["groups": "[\"a\"]"]).tags == nil)
        #expect(try await Samples.identity([:], ["tags-claim": ["/groups"]]).tags == [])
    }

    @Test("tags are a text or a list of texts, each once; what is no tag is left out")
    func tags() async throws {
        let settings = ["tags-claim": ["/realm_access/roles"]]
        func tags(_ value: String) async throws -> [String]? {
            try await Samples.identity(["realm_access": "{\"roles\":\(value)}"], settings).tags?.map(\.text)
        }
        #expect(try await tags("[\"red\",\"blue\",\"RED\",\"team:a\"]") == ["red", "blue", "team:a"])
        #expect(try await tags("\"red\"") == ["red"])
        #expect(try await tags("[\"red\",\"two words\",\"\",\"$InstallationId:{x}\",\"a'b\"]") == ["red"])
        #expect(try await tags("[\"red\",1]") == [])
        #expect(try await tags("{\"red\":true}") == [])
    }

    @Test("no token gives the tag of a user, by which access to content is judged")
    func userTag() async throws {
        let identity = try await Samples.identity(
            ["groups": "[\"username:bob\",\"UserName:bob\",\"username:\",\"usernames\"]"], ["tags-claim": ["/groups"]])
        #expect(identity.tags?.map(\.text) == ["usernames"])
    }

    @Test("groups that Entra left out are unknown, and not none")
    func overage() async throws {
        let settings = ["tags-claim": ["/groups"]]
        #expect(try await Samples.identity(["_claim_names": "{\"groups\":\"src1\"}"], settings).tags == nil)
        #expect(try await Samples.identity(["_claim_names": "{\"other\":\"src1\"}"], settings).tags == [])
    }

    @Test("the first rule that fits gives the role, and without one there is none")
    func role() async throws {
        let settings = ["role-claim": ["/roles"], "role-values": ["push=senders=sender", "audits=auditor", "all=user"]]
        func role(_ value: String?) async throws -> TokenRole? { try await Samples.identity(["roles": value], settings).role }
        #expect(try await role("[\"audits\",\"push=senders\"]") == .sender)
        #expect(try await role("[\"all\",\"audits\"]") == .auditor)
        #expect(try await role("\"audits\"") == .auditor)
        for value in [nil, "[]", "[\"admin\"]", "\"sender\"", "[\"push=senders\",1]", "{\"audits\":true}", "\"AUDITS\""]
            as [String?]
        {
            #expect(try await role(value) == nil)
        }
        #expect(try await Samples.identity(["roles": "[\"sender\",\"admin\"]"]).role == nil)
    }

    @Test("whether an unknown user is created is a setting")
    func creation() async throws {
        #expect(try await !Samples.identity().mayCreateUser)
        #expect(try await Samples.identity([:], ["create-users": ["true"]]).mayCreateUser)
    }
}
