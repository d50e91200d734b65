import Foundation
import LocalCertificates
import RichPushModel
import Testing

@testable import ServerSettings

@Suite("What is wrong with settings")
struct SettingsProblemsTests {
    @Test("a port that is text stops the start, and the place is named")
    func malformed() {
        #expect(
            SettingsFixture(file: "log-level: info\nlisten-port: abc\n").problems == [
                "clarion.yaml line 2: listen-port: \"abc\" is not a port from 1 to 65535, or 0 for any free one"
            ])
        #expect(
            SettingsFixture(environment: ["CLARION_LISTEN_PORT": ""]).problems == [
                "environment CLARION_LISTEN_PORT: listen-port: \"\" is not a port from 1 to 65535, or 0 for any free one"
            ])
        #expect(SettingsFixture(arguments: ["--listen-port", "65536"]).problems.count == 1)
    }

    @Test("trust roots that are missing or no certificates stop the start")
    func trustRoots() {
        var fixture = SettingsFixture(file: "apns-host: localhost\nallow-local-apns: true\napns-trust-roots-path: roots.pem\n")
        let place = "clarion.yaml line 3: apns-trust-roots-path: roots.pem"
        #expect(fixture.problems == [place + " cannot be read: there is no such file"])
        fixture.files = ["roots.pem": "hello"]
        fixture.trustRootsProblem = SettingsEnvironment.server.checkTrustRoots("hello")
        #expect(fixture.problems == [place + ": the file holds no PEM certificates"])
        fixture.trustRootsProblem = nil
        #expect(fixture.problems.isEmpty)
    }

    @Test("a certificate that is none, or whose key is another's, is a problem beside all others")
    func certificate() throws {
        var fixture = SettingsFixture(
            file: "tls-listen-port: 8443\ntls-certificate-path: a.pem\ntls-key-path: b.pem\ninsecure: yes")
        let place = "clarion.yaml line 2: tls-certificate-path: a.pem"
        #expect(fixture.problems.contains(place + " cannot be read: there is no such file"))
        #expect(fixture.problems.contains("clarion.yaml line 3: tls-key-path: b.pem cannot be read: there is no such file"))
        fixture.files = ["a.pem": "hello", "b.pem": "hello"]
        let check = SettingsEnvironment.server.checkCertificate
        fixture.certificateProblem = check("hello", "hello")
        #expect(fixture.problems.contains(place + " and b.pem: the certificate file holds no PEM certificates"))
        #expect(fixture.problems.count == 2)
        let authority = try LocalCertificateAuthority.create()
        let (one, other) = try (issue(authority), issue(authority))
        #expect(check(one.certificatePEM, "hello") == "the key file holds no private key in PEM, or it is encrypted")
        #expect(check(one.certificatePEM, other.privateKeyPEM) == "certificate and key do not belong together")
        #expect(check(one.certificatePEM, one.privateKeyPEM) == nil)
    }

    private func issue(_ authority: LocalCertificateAuthority) throws -> (certificatePEM: String, privateKeyPEM: String) {
        try authority.issueServerCertificate(names: ["localhost"], subject: "Test", now: SystemClock().now)
    }

    @Test(
        "a file that is there and closed to this user is not called missing",
        arguments: [
            (EACCES, "this user may not read it"), (EPERM, "this user may not read it"), (ENOENT, "there is no such file"),
            (ENXIO, "it is no file"),
        ])
    func closedFiles(errorNumber: Int32, sentence: String) {
        #expect(NamedFileFault(errorNumber: errorNumber).description == sentence)
    }

    @Test("all problems of all sources come in one list")
    func together() {
        var fixture = SettingsFixture()
        fixture.arguments = ["--lissen-port", "80", "stray", "--log-format"]
        fixture.environment = ["CLARION_LOG_LEVEL": "loud", "CLARION_NONSENSE": "1"]
        fixture.file = "push-deadline: 30\nlisten_host: ::1\ninsecure: yes\n"
        #expect(
            Set(fixture.problems) == [
                "command line --lissen-port: is not a setting; did you mean --listen-port?",
                "command line stray: is neither a setting nor the value of one",
                "command line --log-format: has no value",
                "environment CLARION_LOG_LEVEL: log-level: \"loud\" is not one of trace, debug, info, notice, warning, error, critical",
                "environment CLARION_NONSENSE: is not a setting",
                "clarion.yaml line 1: push-deadline: \"30\" is not a time from 1s to 5m with its unit, for example 500ms, 30s or 5m",
                "clarion.yaml line 2: listen_host is not a setting; did you mean listen-host?",
                "clarion.yaml line 3: insecure: \"yes\" is not true or false",
            ])
    }

    @Test("a malformed value is a problem even where a better one hides it")
    func hidden() {
        #expect(SettingsFixture(arguments: ["--listen-port", "80"], file: "listen-port: eighty").problems.count == 1)
    }

    @Test(
        "a file that is no list of keys and values is refused with its line",
        arguments: [
            ("- a\n- b\n", "clarion.yaml line 1: the file is not a list of lines like `key: value`"),
            ("hub-name:\n", "clarion.yaml line 1: hub-name has no value; take the line out for the default"),
            ("hub-name: {a: b}\n", "clarion.yaml line 1: hub-name is not a name"),
            ("log-level: info\nhub-name: a\nhub-name: b\n", "hub-name stands there twice"),
            ("log-level: info\nhub-name: [a\n", "clarion.yaml line"),
            ("log-level: \"info\n", "clarion.yaml line"),
        ])
    func brokenFile(text: String, expected: String) throws {
        let problems = SettingsFixture(file: text).problems
        #expect(problems.count == 1)
        #expect(try #require(problems.first).contains(expected))
    }

    @Test("an empty file and a file of comments say nothing", arguments: ["", "# nothing\n", "---\n"])
    func emptyFile(text: String) { #expect(SettingsFixture(file: text).problems.isEmpty) }

    @Test("a file that is named and missing is a problem")
    func missingFile() {
        let fixture = SettingsFixture(environment: ["CLARION_CONFIG": "elsewhere.yaml"])
        #expect(fixture.problems == ["elsewhere.yaml: cannot be read: there is no such file"])
    }

    @Test(
        "numbers with signs, spaces, separators or leading zeros are refused",
        arguments: ["+80", "-1", " 80", "8_0", "080", "8e1", "٨٠"])
    func numbers(text: String) { #expect(SettingsFixture(arguments: ["--listen-port=\(text)"]).problems.count == 1) }

    @Test("a file of a hundred thousand levels does no harm")
    func deep() {
        let text = "trusted-proxies: " + String(repeating: "[", count: 100_000)
        #expect(!SettingsFixture(file: text).problems.isEmpty)
    }
}
