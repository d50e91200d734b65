import SharedAccess
import Testing

@testable import ServerSettings

@Suite("Ranges of addresses")
struct AddressRangeTests {
    @Test("an address lies in its range and not beside it")
    func contains() throws {
        let range = try #require(AddressRange("10.16.0.0/12"))
        #expect(range.contains("10.16.0.1"))
        #expect(range.contains("10.31.255.255"))
        #expect(range.contains("::ffff:10.20.0.1"))
        #expect(
            !range.contains("10.32.0.0") && !range.contains("10.15.255.255") && !range.contains("::1") && !range.contains("x"))
        let all = try #require(AddressRange("0.0.0.0/0"))
        #expect(all.contains("203.0.113.9"))
        #expect(!all.contains("2001:db8::1"))
        let one = try #require(AddressRange("2001:db8::1"))
        #expect(one.contains("2001:db8:0:0::1"))
        #expect(!one.contains("2001:db8::2"))
    }

    @Test(
        "what is no range is refused",
        arguments: ["", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0", "a/8", "::/129", "1.2.3.4/32/1"])
    func malformed(text: String) { #expect(AddressRange(text) == nil) }

    @Test("this machine is known by address and by name, in every spelling that a listener takes")
    func loopback() {
        for host in ["127.0.0.1", "127.255.0.1", "::1", "0:0:0:0:0:0:0:1", "[::1]", "LOCALHOST", "::ffff:127.0.0.1"] {
            #expect(AddressRange.isLoopback(host: host), "\(host)")
        }
        for host in ["0.0.0.0", "::", "localhost.example.com", "128.0.0.1", "2130706433", "127.0.0.1.example.com", ""] {
            #expect(!AddressRange.isLoopback(host: host), "\(host)")
        }
    }
}
