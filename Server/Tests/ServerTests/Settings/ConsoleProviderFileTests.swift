import Testing

@testable import ServerSettings

/// The file of the setting `console-provider`.
@Suite struct ConsoleProviderFileTests {
    private static let keycloak = """
        issuer: https://id.example.com/realms/staff
        client: clarion
        client-secret-path: secret.txt
        algorithms: RS256
        role-claim: /groups
        role-values: [ops=admin, news=sender]
        """

    private static func read(_ text: String, secret: String? = "s3cret\n", url: String? = "https://push.example.com")
        -> SettingsLoader.Result
    {
        var fixture = SettingsFixture(arguments: ["--console-provider", "provider.yaml"])
        if let url { fixture.arguments += ["--public-url", url] }
        fixture.files = ["provider.yaml": text]
        if let secret { fixture.files["secret.txt"] = secret }
        return fixture.read()
    }

    @Test("the fields of a provider are read from YAML")
    func fields() throws {
        let settings = try #require(Self.read(Self.keycloak).settings)
        let provider = try #require(try settings.consoleProvider?.provider())
        #expect(provider.issuer.issuer == "https://id.example.com/realms/staff")
        #expect(provider.client == "clarion")
        #expect(provider.issuer.roleRules.map(\.value) == ["ops", "news"])
    }

    @Test("a provider leads back to public-url, so that is needed")
    func publicURL() {
        let result = Self.read(Self.keycloak, url: nil)
        #expect(result.settings == nil)
        #expect(result.problems.map(\.sentence).contains { $0.contains("needs public-url") })
    }

    @Test("a secret file that is missing, empty or of two lines is a problem", arguments: [nil, "", "\n", "one\ntwo\n"])
    func secrets(text: String?) throws {
        let result = Self.read(Self.keycloak, secret: text)
        guard let settings = result.settings else {
            #expect(result.problems.first?.sentence == "client-secret-path cannot be read: there is no such file")
            return
        }
        let error = #expect(throws: SettingsError.self) { _ = try settings.consoleProvider?.provider() }
        #expect(error?.problems.map(\.sentence).first?.hasPrefix("client-secret-path must have") == true)
    }

    @Test("a secret that stands in the file itself is refused, and not repeated")
    func inline() {
        let text = Self.keycloak.replacing("client-secret-path: secret.txt", with: "client-secret: hidden-word")
        let problems = Self.read(text).problems.map(\.description)
        #expect(problems.contains { $0.contains("client-secret stands in a file that client-secret-path names") })
        #expect(!problems.contains { $0.contains("hidden-word") })
    }

    @Test("every problem comes with file, line and field")
    func problems() throws {
        let settings = try #require(Self.read("client: é\nalgorithms: HS256\nroles: x\n").settings)
        let error = #expect(throws: SettingsError.self) { _ = try settings.consoleProvider?.provider() }
        let problems = error?.problems.map(\.description) ?? []
        let place = "command line --console-provider: console-provider: provider.yaml line 1: "
        #expect(problems.allSatisfy { $0.hasPrefix(place) })
        for field in ["issuer", "client", "algorithms", "roles"] {
            #expect(problems.contains { $0.hasPrefix("\(place)\(field) ") }, "\(field)")
        }
        #expect(problems.contains { $0.contains("client, client-secret-path, algorithms") }, "the fields as the file has them")
    }

    @Test(
        "a file of another form stops the start",
        arguments: ["", "- issuer: https://id.example.com", "[]", "text", "a: [", "a: b\na: c"])
    func form(_ text: String) {
        let result = Self.read(text)
        #expect(result.settings == nil)
        #expect(result.problems.first?.place.contains("provider.yaml") == true)
    }
}
