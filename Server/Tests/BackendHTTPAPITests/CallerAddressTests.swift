import HTTPTypes
import Testing

@testable import BackendHTTPAPI

struct CallerAddressTests {
    private func address(_ peer: String, _ forwarded: String...) -> String {
        CallerAddress.of(peer: peer, forwarded: forwarded) { $0.hasPrefix("10.") }
    }

    @Test("only a trusted proxy can say that a request came from another address")
    func untrustedPeer() {
        #expect(address("192.0.2.1", "203.0.113.9") == "192.0.2.1")
    }

    @Test("behind proxies the caller is the last hop that is no proxy, whatever was written before it")
    func lastHop() {
        #expect(address("10.0.0.1", "198.51.100.7, 203.0.113.9, 10.0.0.2") == "203.0.113.9")
        #expect(address("10.0.0.1", "198.51.100.7", "203.0.113.9") == "203.0.113.9")
    }

    @Test("a proxy that names no client is the caller itself")
    func noClient() {
        #expect(address("10.0.0.1") == "10.0.0.1")
        #expect(address("10.0.0.1", "10.0.0.3, 10.0.0.2") == "10.0.0.1")
    }

    @Test("a proxy at work is seen by either header")
    func atWork() throws {
        #expect(!CallerAddress.isForwarded([.userAgent: "curl", .via: "1.1 cache"]))
        for name in ["X-Forwarded-For", "Forwarded", "x-forwarded-for"] {
            let field = try #require(HTTPField.Name(name))
            #expect(CallerAddress.isForwarded([field: "for=203.0.113.9"]))
        }
    }
}
