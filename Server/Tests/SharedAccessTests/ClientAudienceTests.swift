import Foundation
import Testing

@testable import SharedAccess

/// The audience of every client of the table in Reference/AzureNotificationHubs.md#1-3, built as that client builds it.
@Suite struct ClientAudienceTests {
    struct Form: Sendable, CustomTestStringConvertible {
        var client: String
        var audience: String
        var testDescription: String { client }
    }

    /// The request: `PUT https://push.example.test:8443/Demo/Registrations/12-34-1?api-version=2020-06&$filter=DeviceToken+eq+'AB'`.
    static let path = "/Demo/Registrations/12-34-1"
    private static let query = "?api-version=2020-06&$filter=DeviceToken+eq+%27AB%27"
    private static let url = "https://push.example.test:8443\(path)\(query)"

    static let forms: [Form] = {
        let lowered = url.lowercased()
        let plain = "http://push.example.test/demo/registrations/12-34-1/"
        return [
            Form(client: ".NET", audience: AudienceEncoding.form.encode(plain, upperCaseDigits: false)),
            Form(client: ".NET, net461", audience: AudienceEncoding.form.encode(plain)),
            Form(client: "Java", audience: AudienceEncoding.form.encode(lowered).lowercased()),
            Form(client: "JavaScript", audience: AudienceEncoding.component.encode("https://push.example.test:8443/")),
            Form(
                client: "iOS",
                audience: AudienceEncoding.rfc3986.encode(lowered.replacing("https://", with: "http://")).lowercased()),
            Form(client: "Android", audience: AudienceEncoding.form.encode(url).lowercased()),
            Form(client: "Go", audience: AudienceEncoding.form.encode("https://push.example.test:8443")),
            Form(client: "PHP", audience: AudienceEncoding.rfc3986.encode(lowered).lowercased()),
            Form(
                client: "PHP, registration ids",
                audience: AudienceEncoding.rfc3986.encode("https://push.example.test:8443/demo/registrations/").lowercased()),
            Form(client: "Node, legacy", audience: AudienceEncoding.component.encode(lowered).lowercased()),
            Form(client: "Ruby", audience: AudienceEncoding.form.encode("sb://push.example.test:8443/").lowercased()),
            Form(client: "Python", audience: AudienceEncoding.rfc3986.encode("https://push.example.test:8443/demo").lowercased()),
        ]
    }()

    @Test("the audience of every client is admitted", arguments: forms)
    func admitted(_ form: Form) {
        let result = SignatureSamples.verify(SignatureSamples.header(encoded: form.audience), path: Self.path + Self.query)
        #expect(result == .success(AccessGrant(rule: AccessRule.fullName, rights: Set(AccessRight.allCases))))
    }

    @Test("the audience of every client is refused on another host", arguments: forms)
    func otherHost(_ form: Form) {
        let header = SignatureSamples.header(encoded: form.audience)
        let result = SignatureSamples.verify(header, hosts: ["push.example.test.evil.test"], path: Self.path)
        #expect(result == .failure(.invalidAudience))
    }

    @Test("an audience that names a hub is refused at another hub, also at one whose name begins alike", arguments: forms)
    func otherHub(_ form: Form) {
        let header = SignatureSamples.header(encoded: form.audience)
        let namesHub = form.audience.lowercased().contains("demo")
        for path in ["/other/messages", "/demo2/registrations/12-34-1", "/dem"] {
            let result = SignatureSamples.verify(header, path: path)
            #expect(SignatureSamples.fault(result) == (namesHub ? .invalidAudience : nil), "\(path)")
        }
    }

    @Test("a signature may carry its slash unescaped, as one client sends it")
    func rawSlash() throws {
        let audience = "https%3a%2f%2fpush.example.test%2fdemo"
        // Some expiry gives a code with a slash in it.
        let header = try #require(
            (0..<200).lazy.map { SignatureSamples.header(encoded: audience, expiry: "\(1_900_000_000 + $0)") }
                .first { $0.contains("%2f") && $0.range(of: "sig=.*%2f.*&se", options: .regularExpression) != nil })
        let parts = header.split(separator: "&")
        let raw = ([parts[0]] + [Substring(parts[1].replacing("%2f", with: "/"))] + parts[2...]).joined(separator: "&")
        #expect(raw != header)
        #expect(SignatureSamples.fault(SignatureSamples.verify(raw)) == nil)
    }

    @Test("the fields may come in any order")
    func order() {
        let fields = SignatureSamples.example.dropFirst("SharedAccessSignature ".count).split(separator: "&")
        for first in fields.indices {
            let turned = fields[first...] + fields[..<first]
            let header = "sharedaccesssignature " + turned.joined(separator: "&")
            #expect(SignatureSamples.fault(SignatureSamples.verify(header)) == nil)
        }
    }
}
