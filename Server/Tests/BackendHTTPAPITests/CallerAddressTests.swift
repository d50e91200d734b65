import AppBackend
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

    @Test("a key of a network is judged by the hop that a trusted proxy saw, whatever stands before it")
    func keyOfNetwork() async throws {
        let bench = try await BackendBench()
        let request = ServiceKeyRequest(name: "bound", scopes: ["send"], networks: ["192.0.2.0/24"])
        let key = try await bench.backend.createKey(request).key ?? ""
        func isTaken(_ peer: String, _ forwarded: String...) async -> Bool {
            let address = CallerAddress.of(peer: peer, forwarded: forwarded) { $0.hasPrefix("10.") }
            return (try? await bench.backend.authenticate(.bearer(key), from: SourceAddress(address))) != nil
        }
        #expect(await isTaken("192.0.2.7"))
        #expect(await isTaken("10.0.0.1", "203.0.113.9, 192.0.2.7"))
        #expect(await !isTaken("10.0.0.1", "192.0.2.7, 203.0.113.9"))
        #expect(await !isTaken("10.0.0.1", "192.0.2.7", "203.0.113.9, 10.0.0.2"))
        #expect(await !isTaken("203.0.113.9", "192.0.2.7"))
        for odd in ["192.0.2.7:443", "[192.0.2.7]", "unknown", "192.0.2.7%eth0", "192.0.2.007x", ""] {
            #expect(await !isTaken("10.0.0.1", odd), "\(odd)")
        }
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
