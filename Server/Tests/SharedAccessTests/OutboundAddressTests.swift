import Foundation
import SharedAccess
import Testing

@Suite("Addresses that others give")
struct OutboundAddressTests {
    @Test(
        "a URL is read as others read it",
        arguments: [
            "https://push.example.net", "https://push.example.net/", "https://Push.Example.NET:8443/p/1?q=a%20b",
            "HTTPS://a.example/X",
            "http://127.0.0.1:9000/wpush/v2/x", "https://[2001:db8::1]:444/p", "https://xn--bcher-kva.example/p",
        ])
    func same(text: String) throws {
        let address = try #require(OutboundAddress(text))
        let other = try #require(URL(string: address.url))
        #expect(other.host(percentEncoded: true)?.trimmingCharacters(in: ["[", "]"]) == address.host)
        #expect(other.port ?? (address.isSecure ? 443 : 80) == address.port)
        #expect(other.path(percentEncoded: true) == URL(string: text)?.path(percentEncoded: true))
        #expect(other.query(percentEncoded: true) == URL(string: text)?.query(percentEncoded: true))
    }

    @Test(
        "a request names the host without the usual port, and path with query",
        arguments: [
            ("https://push.example.net", "push.example.net", "/"), ("https://push.example.net:443/p", "push.example.net", "/p"),
            ("https://push.example.net:80/p/1?q=a%20b", "push.example.net:80", "/p/1?q=a%20b"),
            ("http://127.0.0.1:80?q", "127.0.0.1", "/?q"), ("https://[2001:db8::1]:444/p//", "[2001:db8::1]:444", "/p//"),
            ("https://[2001:db8::1]?a/b", "[2001:db8::1]", "/?a/b"),
        ])
    func request(text: String, authority: String, target: String) throws {
        let address = try #require(OutboundAddress(text))
        #expect(address.authority == authority)
        #expect(address.target == target)
    }

    @Test(
        "what is no such URL, or could be read in two ways, is refused",
        arguments: [
            "", "push.example.net", "ftp://a.example/", "https://", "https:///p", "https://user@a.example/",
            "https://u:p@a.example/",
            "https://a.example/#f", "https://a.example:0/", "https://a.example:65536/", "https://a.example:8x/",
            "https://a%22.example/",
            "https://a%00.example/", "https://bücher.example/", "https://a.example /", "https://[::1/", "https://[1.2.3.4]/",
            #"https://a.example\@b.example/"#, "https://a.example\u{0}/", "https://a..b:80:90/", "https",
            "https:", "https:/a.example/", "https:///", "a:https://a.example/",
        ])
    func refused(text: String) { #expect(OutboundAddress(text) == nil) }

    @Test(
        "what is wrong with a URL is named",
        arguments: [
            ("https://user@a.example/", OutboundAddressFault.user), ("https://u:p@a.example:0/#f", .fragment),
            ("https://a.example/#f", .fragment), ("https://a.example#f", .fragment), ("https://a.example:0/", .port),
            ("https://a.example:65536/", .port), ("https://a.example:/", .port), ("https://[::1]x/", .port),
            ("ftp://a.example/", .scheme), ("a.example", .scheme), ("javascript:alert(1)#", .scheme), ("https://", .host),
            ("https://a%22.example/", .host), ("https://[1.2.3.4]/", .host), ("https://a.example /", .character),
            ("https://bücher.example/", .character), ("https://a.example/" + String(repeating: "a", count: 2_000), .length),
        ])
    func faults(text: String, fault: OutboundAddressFault) {
        #expect(throws: fault) { try OutboundAddress(reading: text) }
    }

    @Test("each fault has words of its own")
    func words() {
        let faults: [OutboundAddressFault] = [.length, .character, .scheme, .user, .fragment, .host, .port]
        #expect(Set(faults.map(\.description)).count == faults.count)
    }

    @Test(
        "a dot at the end of the host is no part of it",
        arguments: [
            ("https://Push.Example.net./p", "push.example.net", "https://push.example.net/p"),
            ("https://localhost.:8443?q", "localhost", "https://localhost:8443?q"),
            ("https://127.0.0.1./", "127.0.0.1", "https://127.0.0.1/"),
        ])
    func rooted(text: String, host: String, url: String) throws {
        let address = try #require(OutboundAddress(text))
        #expect(address.host == host)
        #expect(address.url == url)
        #expect(address == OutboundAddress(url))
    }

    @Test(
        "a host in which a part between dots is empty is none",
        arguments: ["https://./", "https://../", "https://a../", "https://.a.example/", "https://a..example/"])
    func dots(text: String) {
        #expect(throws: OutboundAddressFault.host) { try OutboundAddress(reading: text) }
    }

    @Test(
        "a character that a URL has only in encoded form is refused wherever it stands",
        arguments: Array("\"<>\\^`{|} \t\u{7F}é"))
    func misread(character: Character) {
        for text in ["https://a.example/p\(character)q", "https://a.example/\(character)", "https://a\(character).example/"] {
            #expect(throws: OutboundAddressFault.character) { try OutboundAddress(reading: text) }
        }
    }

    @Test(
        "only the public Internet is allowed, with TLS",
        arguments: [
            ("https://8.8.8.8/", true), ("http://8.8.8.8/", false), ("https://10.0.0.1/", false), ("https://127.0.0.1/", false),
            ("https://localhost/", false), ("https://LOCALHOST/", false), ("https://[::1]/", false),
            ("https://[::ffff:127.0.0.1]/", false),
            ("https://169.254.169.254/", false), ("https://a.example/", true), ("http://a.example/", false),
            ("https://localhost.:8443/", false), ("https://push.localhost/", false), ("https://10.1/", false),
            ("https://0x7f.1/", false), ("https://2130706433/", false), ("https://0x7F000001/", false),
            ("https://8.8.8.8./", true), ("https://1.2.3.256/", false), ("https://4711.example/", true),
            ("https://a.0xample/", true),
        ])
    func rule(text: String, isAllowed: Bool) throws {
        let rule = OutboundRule(networks: [], setting: "networks")
        #expect((rule.refusal(of: try #require(OutboundAddress(text))) == nil) == isAllowed)
    }

    @Test(
        "an address in an odd form is in no network", arguments: ["http://10.1/", "https://0x7f.1/", "https://2130706433/"])
    func oddForms(text: String) throws {
        let networks = ["10.0.0.0/8", "127.0.0.0/8"].compactMap { AddressRange($0) }
        let rule = OutboundRule(networks: networks, setting: "networks")
        #expect(rule.refusal(of: try #require(OutboundAddress(text)))?.contains("four decimal numbers") == true)
    }
}
