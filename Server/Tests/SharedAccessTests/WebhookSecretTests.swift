import Foundation
import SharedAccess
import Testing

@Suite("Secrets of webhooks")
struct WebhookSecretTests {
    @Test("a signature is that of the reference's example")
    func example() throws {
        let secret = try #require(WebhookSecret(text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("a secret has 32 bytes, the same for a salt under a master key, and another otherwise")
    func derived() throws {
        let (one, other) = (MasterKey.random(), MasterKey.random())
        let secret = WebhookSecrets(one).secret(salt: [1, 2]).text
        #expect(Data(base64Encoded: String(secret.dropFirst(6)))?.count == 32)
        #expect(WebhookSecrets(one).secret(salt: [1, 2]).text == secret)
        #expect(WebhookSecrets(one).secret(salt: [1, 3]).text != secret)
        #expect(WebhookSecrets(other).secret(salt: [1, 2]).text != secret)
        #expect(WebhookSecret(text: secret)?.text == secret)
    }

    @Test("a secret is never shown", arguments: ["description", "debug", "dump"])
    func hidden(_ form: String) {
        let secret = WebhookSecrets(.random()).secret(salt: [1])
        var dumped = ""
        dump(secret, to: &dumped)
        let text = form == "description" ? "\(secret)" : form == "debug" ? String(reflecting: secret) : dumped
        #expect(!text.contains(secret.text.dropFirst(6)))
    }

    @Test(
        "a text that is no secret is none",
        arguments: ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_*fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
    func malformed(_ text: String) { #expect(WebhookSecret(text: text) == nil) }

    @Test(
        "an address that is not of the public Internet is recognized",
        arguments: [
            "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
            "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fc00::1",
            "fd00:ec2::254", "fe80::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "::127.0.0.1",
            "localhost", "", "1.2.3", "fe80::1%lo", "0x7f.1", "2130706433",
        ])
    func notPublic(_ address: String) { #expect(!AddressRange.isPublic(address)) }

    @Test(
        "an address of the public Internet is recognized",
        arguments: ["8.8.8.8", "1.1.1.1", "100.63.255.255", "172.32.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1"])
    func isPublic(_ address: String) { #expect(AddressRange.isPublic(address)) }
}
