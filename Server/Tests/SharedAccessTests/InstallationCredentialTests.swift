import RichPushModel
import SharedAccess
import Testing

@Suite struct InstallationCredentialTests {
    @Test("the text form reads back, and only the right secret matches the stored digest")
    func roundTrip() throws {
        let installation = try #require(InstallationID("phone-1"))
        let credential = InstallationCredential(for: installation)
        let read = try #require(InstallationCredential(text: credential.text))
        #expect(read.installation == installation)
        #expect(read.matches(digest: credential.digest))
        #expect(!InstallationCredential(for: installation).matches(digest: credential.digest))
    }

    @Test("the same secret under another installation's name does not match")
    func bound() throws {
        let credential = InstallationCredential(for: try #require(InstallationID("phone-1")))
        let secret = try #require(credential.text.split(separator: ".").last)
        let moved = try #require(InstallationCredential(text: "phone-2.\(secret)"))
        #expect(!moved.matches(digest: credential.digest))
    }

    @Test(
        "a malformed text is refused",
        arguments: ["", ".", "phone-1", "phone-1.", "phone-1.AAAA", "../x.AAAA", ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
    func malformed(_ text: String) { #expect(InstallationCredential(text: text) == nil) }

    @Test("a credential is never printed")
    func redacted() throws {
        let credential = InstallationCredential(for: try #require(InstallationID("phone-1")))
        #expect("\(credential)" == "installation credential (not shown)")
        #expect(String(reflecting: credential) == "installation credential (not shown)")
    }
}
