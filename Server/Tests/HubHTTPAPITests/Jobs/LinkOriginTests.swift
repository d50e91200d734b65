import Testing

@testable import HubHTTPAPI

@Suite("Links to files begin as their asker can reach them")
struct LinkOriginTests {
    @Test(
        "over TLS of this process with the name and port that were asked for, whatever else is set",
        arguments: [nil, "https://push.example.test"], [false, true])
    func secure(publicURL: String?, isBehindTLSProxy: Bool) {
        let origin = LinkOrigin(publicURL: publicURL, isBehindTLSProxy: isBehindTLSProxy)
        #expect(origin.base(for: "127.0.0.1:8443", isSecure: true) == "https://127.0.0.1:8443")
        #expect(origin.base(for: "other.example.test", isSecure: true) == "https://other.example.test")
    }

    @Test(
        "a client on this machine without TLS gets a plain link, beside a TLS listener too",
        arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080"])
    func plain(authority: String) {
        #expect(LinkOrigin(isBehindTLSProxy: false).base(for: authority, isSecure: false) == "http://\(authority)")
        #expect(LinkOrigin(isBehindTLSProxy: true).base(for: authority, isSecure: false) == "http://\(authority)")
    }

    @Test("behind a proxy the scheme is the proxy's, and a name that the proxy did not pass on is the public one")
    func proxied() {
        let named = LinkOrigin(publicURL: "https://Push.example.test:8443", isBehindTLSProxy: false)
        #expect(named.base(for: "push.example.test:8443", isSecure: false) == "https://Push.example.test:8443")
        #expect(named.base(for: "127.0.0.1:8080", isSecure: false) == "https://Push.example.test:8443")
        #expect(named.base(for: "push.example.test", isSecure: false) == "http://push.example.test", "another port")
        let unnamed = LinkOrigin(isBehindTLSProxy: true)
        #expect(unnamed.base(for: "push.example.test", isSecure: false) == "https://push.example.test")
    }

    @Test("the scheme of a Location is https where TLS ends here or in front, and http where there is none")
    func schemes() {
        #expect(LinkOrigin(isBehindTLSProxy: false).scheme(isSecure: true) == "https")
        #expect(LinkOrigin(isBehindTLSProxy: true).scheme(isSecure: false) == "https")
        #expect(LinkOrigin(publicURL: "https://push.example.test", isBehindTLSProxy: false).scheme(isSecure: false) == "https")
        #expect(LinkOrigin(publicURL: "http://push.example.test", isBehindTLSProxy: false).scheme(isSecure: false) == "http")
        #expect(LinkOrigin(isBehindTLSProxy: false).scheme(isSecure: false) == "http")
    }

    @Test("a Location has the scheme that was used, but for the JavaScript client, which reads no other than https")
    func locations() async throws {
        let hub = try await HubUnderTest(options: { $0.origin = LinkOrigin(isBehindTLSProxy: false) })
        let request = ClientRequest("POST", "/demo/registrationids?api-version=2020-06")
        let plain = try await hub.call(.go, request).location()
        #expect(plain.hasPrefix("http://\(HubUnderTest.authority)/demo/registrationids/"), "\(plain)")
        let own = try await hub.call(.javaScript, request).location()
        #expect(own.hasPrefix("https://\(HubUnderTest.authority)/demo/registrationids/"), "\(own)")
    }

    @Test("a closed network without TLS gets what it was asked by")
    func insecure() {
        #expect(
            LinkOrigin(isBehindTLSProxy: false).base(for: "node-1.internal:8080", isSecure: false)
                == "http://node-1.internal:8080")
    }
}
