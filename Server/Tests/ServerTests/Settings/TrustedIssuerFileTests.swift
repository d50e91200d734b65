import Testing

@testable import ServerSettings

/// The file of the setting `trusted-issuers`.
@Suite struct TrustedIssuerFileTests {
    private struct Missing: Error, CustomStringConvertible { var description: String { "there is no such file" } }

    /// What a node reads when `issuers.yaml` has this text.
    private static func read(_ text: String, files: [String: String] = [:]) -> SettingsLoader.Result {
        let files = files.merging(["issuers.yaml": text]) { $1 }
        let system = SettingsEnvironment(
            readText: { path in
                guard let text = files[path] else { throw Missing() }
                return text
            }, isReadable: { files[$0] != nil }, checkAPNsKey: { _ in nil })
        return SettingsLoader(arguments: ["--trusted-issuers", "issuers.yaml"], environment: [:], path: nil, system: system)
            .read()
    }

    private static let keycloak = """
        - issuer: https://id.example.com/realms/app
          audiences: [push, other]
          algorithms: [RS256]
          create-users: true
        """

    @Test("the fields of an issuer are read from YAML")
    func fields() async throws {
        let settings = try #require(Self.read(Self.keycloak).settings)
        let issuer = try #require(try await settings.issuers?.issuers().first)
        #expect(issuer.issuer == "https://id.example.com/realms/app")
        #expect(issuer.audiences == ["push", "other"])
        #expect(issuer.createsUsers)
    }

    @Test("every problem comes with file, line, entry and field")
    func problems() async throws {
        let text = Self.keycloak + "\n- issuer: http://id.example.com\n  algorithms: [HS256]\n  role-claim: roles\n"
        let settings = try #require(Self.read(text).settings)
        let error = await #expect(throws: SettingsError.self) { _ = try await settings.issuers?.issuers() }
        let problems = error?.problems.map(\.description) ?? []
        #expect(problems.count >= 4)
        let place = "command line --trusted-issuers: trusted-issuers: issuers.yaml line 5, issuer 2: "
        #expect(problems.allSatisfy { $0.hasPrefix(place) })
        for field in ["issuer", "audiences", "algorithms", "role-claim"] {
            #expect(problems.contains { $0.contains("issuer 2: \(field) ") }, "\(field)")
        }
    }

    @Test("an issuer that stands twice is a problem")
    func doubled() async throws {
        let settings = try #require(Self.read(Self.keycloak + "\n" + Self.keycloak).settings)
        let error = await #expect(throws: SettingsError.self) { _ = try await settings.issuers?.issuers() }
        #expect(error?.problems.first?.sentence.contains("stands there twice") == true)
    }

    @Test(
        "a file of another form stops the start",
        arguments: ["", "issuer: https://id.example.com", "[]", "- text", "- issuer: {a: b}", "- [", "- issuer: a\n  issuer: b"])
    func form(_ text: String) {
        let result = Self.read(text)
        #expect(result.settings == nil)
        #expect(result.problems.first?.place.contains("issuers.yaml") == true)
    }

    @Test("a key set in a file is read, and a missing one is a problem")
    func keysPath() async throws {
        let text = Self.keycloak + "\n  keys-path: keys.json\n"
        #expect(Self.read(text).problems.first?.sentence == "keys-path cannot be read: there is no such file")
        let settings = try #require(Self.read(text, files: ["keys.json": #"{"keys":[]}"#]).settings)
        let error = await #expect(throws: SettingsError.self) { _ = try await settings.issuers?.issuers() }
        #expect(error?.problems.first?.sentence.hasPrefix("keys-path has no usable key") == true)
    }
}
