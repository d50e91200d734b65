import Testing

@testable import SharedAccess

@Suite struct ConnectionStringTests {
    private static let key = SignatureSamples.keyText

    @Test("the fields may come in any order, with blanks, and in any case; the text is the portable one")
    func order() throws {
        let portable = "Endpoint=sb://push.example.test:8443/;SharedAccessKeyName=Full;SharedAccessKey=\(Self.key)"
        let mixed = " sharedaccesskey=\(Self.key) ; ENDPOINT=sb://Push.Example.Test:8443;SharedAccessKeyName=Full;EntityPath=x;"
        #expect(try ConnectionString(mixed).text == portable)
        let read = try ConnectionString(portable)
        #expect(read.endpoint.baseURL == "https://push.example.test:8443")
        #expect(read.endpoint.port == 8443)
        #expect(read.key.text == Self.key)
    }

    @Test(
        "endpoints become addresses",
        arguments: [
            ("sb://push.example.test/", "https://push.example.test"), ("sb://push.example.test", "https://push.example.test"),
            ("https://push.example.test/base/", "https://push.example.test/base"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("http://localhost:8080", "http://localhost:8080"), ("http://[::1]:8080/", "http://[::1]:8080"),
            ("sb://[::1]:8443/", "https://[::1]:8443"),
        ])
    func endpoints(_ text: String, _ address: String) throws {
        let endpoint = try #require(SharedAccessEndpoint(text))
        #expect(endpoint.baseURL == address)
        #expect(endpoint.text.hasSuffix("/"))
        #expect(SharedAccessEndpoint(endpoint.text) == endpoint)
    }

    @Test(
        "an address that is none, and plain HTTP to another machine, are refused",
        arguments: [
            "", "push.example.test", "sb://", "sb:///", "ftp://push.example.test/", "http://push.example.test/",
            "http://127.0.0.1.evil.test/",
            "sb://push.example.test:0/", "sb://push.example.test:65536/", "sb://push.example.test:/",
            "sb://user@push.example.test/",
            "sb://push example/", "sb://push.example.test/?a=b", "sb://push.example.test/#x",
        ])
    func refusedEndpoints(_ text: String) { #expect(SharedAccessEndpoint(text) == nil) }

    @Test("what is wrong is said without the key")
    func faults() {
        let rest = ";SharedAccessKeyName=Full;SharedAccessKey=\(Self.key)"
        let cases: [(String, ConnectionStringFault)] = [
            ("", .missing("Endpoint")), ("Endpoint=sb://a/;SharedAccessKey=x", .missing("SharedAccessKeyName")),
            ("Endpoint=sb://a/;SharedAccessKeyName=x", .missing("SharedAccessKey")), ("Endpoint" + rest, .malformed),
            ("Endpoint=sb://a/" + rest + ";Endpoint=sb://b/", .malformed), ("Endpoint=http://a.test/" + rest, .invalidEndpoint),
            ("Endpoint=sb://a/;SharedAccessKeyName=;SharedAccessKey=x", .invalidKeyName),
            ("Endpoint=sb://a/;SharedAccessKeyName=Full;SharedAccessKey=", .invalidKey),
            ("Endpoint=sb://a/;SharedSecretIssuer=o;SharedSecretValue=\(Self.key)", .oldCredential),
            (String(repeating: "a=b;", count: 1000), .malformed),
        ]
        for (text, fault) in cases {
            #expect(throws: fault) { try ConnectionString(text) }
            #expect(!fault.description.contains(Self.key))
        }
    }

    @Test("a connection string is printed without its key")
    func redacted() throws {
        let read = try ConnectionString("Endpoint=sb://a.test/;SharedAccessKeyName=Full;SharedAccessKey=\(Self.key)")
        var dumped = ""
        dump(read, to: &dumped)
        for text in ["\(read)", String(reflecting: read), dumped] { #expect(!text.contains(Self.key)) }
        #expect("\(read)" == "connection string for sb://a.test/ as Full (key not shown)")
    }
}
