import Foundation
import SharedAccess
import Testing

@Suite struct BasicCredentialTests {
    private func header(_ text: String, scheme: String = "Basic") -> String {
        "\(scheme) \(Data(text.utf8).base64EncodedString())"
    }

    @Test("user and password are split at the first colon and read as UTF-8")
    func split() {
        let credential = BasicCredential(header: header("ann:pä:ss"))
        #expect(credential?.user == "ann")
        #expect(credential?.password == "pä:ss")
        #expect(BasicCredential(header: header("ann:", scheme: "bAsIc"))?.password == "")
    }

    @Test("padding may be missing, as some clients send it")
    func padding() {
        let unpadded = header("ann:pass").replacing("=", with: "")
        #expect(BasicCredential(header: unpadded)?.password == "pass")
    }

    @Test(
        "a malformed header is refused",
        arguments: [
            "", "Basic", "Basic ", "Bearer abc", "Basic %%%", "Basic " + Data([0xC3, 0x28, 0x3A]).base64EncodedString(),
            "Basic " + Data("nocolon".utf8).base64EncodedString(), "Basic " + Data(":x".utf8).base64EncodedString(),
            "Basic " + Data("ann:a\u{0}b".utf8).base64EncodedString(), "Basic " + Data("an\nn:x".utf8).base64EncodedString(),
            "Basic " + Data(("a:" + String(repeating: "x", count: 1025)).utf8).base64EncodedString(),
            "Basic " + String(repeating: "A", count: 5000),
        ])
    func refused(_ header: String) { #expect(BasicCredential(header: header) == nil) }

    @Test("a credential is never printed")
    func redacted() throws {
        let credential = try #require(BasicCredential(header: header("ann:secret-word")))
        #expect(!"\(credential)".contains("secret"))
        #expect(!String(reflecting: credential).contains("secret"))
    }
}
