import ClarionTesting
import RichPushModel
import Testing

@testable import SharedAccess

@Suite("A verifier that remembers tokens")
struct SharedAccessVerifierTests {
    private let verifier = SharedAccessVerifier()

    private func verify(
        _ header: String?, path: String = "/demo/messages", now: Timestamp = SignatureSamples.now,
        rules: [AccessRule] = [SignatureSamples.rule]
    ) -> Result<AccessGrant, SharedAccessFault> {
        verifier.verify(
            header: header, for: SharedAccessRequest(hosts: ["push.example.test:8443"], path: path, now: now), rules: rules)
    }

    @Test("decides as if it remembered nothing, whatever was asked before")
    func sameDecisions() {
        var random = SeededGenerator()
        let other = AccessRule(name: AccessRule.fullName, rights: [.listen])
        let listen = AccessRule(name: AccessRule.listenName, rights: [.listen], primary: SignatureSamples.key())
        let lists = [[SignatureSamples.rule], [other], [SignatureSamples.rule, other], [listen, other], []]
        let headers = ["", "/demo", "/demo/messages", "/other"].flatMap { path in
            let audience = AudienceEncoding.rfc3986.encode("https://push.example.test\(path)/")
            return [SignatureSamples.key(), other.primary, other.secondary, .random()].flatMap { key in
                [AccessRule.fullName, AccessRule.listenName].flatMap { name in
                    ["1899998000", SignatureSamples.expiry].map {
                        SignatureSamples.header(encoded: audience, expiry: $0, name: name, key: key)
                    }
                }
            }
        }
        var admitted = 0
        for _ in 0..<4_000 {
            let header = Int.random(in: 0..<50, using: &random) == 0 ? "odd" : headers.randomElement(using: &random)
            let path = ["/demo/messages", "/other/registrations/1", "/"].randomElement(using: &random) ?? "/"
            let now = Timestamp(seconds: Int64.random(in: 1_899_997_000...1_900_001_000, using: &random))
            let rules = lists.randomElement(using: &random) ?? []
            let expected = SignatureSamples.verify(header, path: path, now: now, rules: rules)
            #expect(verify(header, path: path, now: now, rules: rules) == expected, "seed \(random.seed)")
            if case .success = expected { admitted += 1 }
        }
        #expect(admitted > 100, "seed \(random.seed)")
    }

    @Test("refuses at once what an exchanged or a deleted key has signed, and takes it when the key is back")
    func exchangedKeys() throws {
        let header = SignatureSamples.example
        let exchanged = AccessRule(name: AccessRule.fullName, rights: Set(AccessRight.allCases))
        for _ in 1...3 {
            _ = try verify(header).get()
            #expect(verify(header, rules: [exchanged]) == .failure(.invalidSignature))
            #expect(verify(header, rules: []) == .failure(.invalidSignature))
        }
        #expect(verifier.count == 1)
    }

    @Test("gives the rights that the rule has now")
    func changedRights() throws {
        var rule = SignatureSamples.rule
        #expect(try verify(SignatureSamples.example, rules: [rule]).get().rights == Set(AccessRight.allCases))
        rule.rights = [.listen]
        #expect(try verify(SignatureSamples.example, rules: [rule]).get().rights == [.listen])
    }

    @Test("lets a remembered token into its own hub alone")
    func otherHub() throws {
        let header = SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2fdemo")
        for _ in 1...2 {
            _ = try verify(header).get()
            #expect(verify(header, path: "/other/messages") == .failure(.invalidAudience))
        }
        let theirs = AccessRule(name: AccessRule.fullName, rights: Set(AccessRight.allCases))
        #expect(verify(header, path: "/demo/messages", rules: [theirs]) == .failure(.invalidSignature))
    }

    @Test("never admits a token after its time, remembered or not")
    func expiry() throws {
        let end = Timestamp(seconds: 1_900_000_000) + .seconds(300)
        _ = try verify(SignatureSamples.example, now: end - .milliseconds(1)).get()
        #expect(verify(SignatureSamples.example, now: end) == .failure(.expiredToken))
        #expect(
            SharedAccessVerifier().verify(
                header: SignatureSamples.example,
                for: SharedAccessRequest(hosts: ["push.example.test"], path: "/demo", now: end), rules: [SignatureSamples.rule])
                == .failure(.expiredToken))
    }

    @Test("remembers a bounded number, and nothing that no key has signed, that cannot be read, or that is long")
    func bound() {
        for number in 0..<50 {
            let audience = "https%3a%2f%2fpush.example.test%2fdemo%2f\(number)"
            _ = verify(SignatureSamples.header(encoded: audience, key: .random()))
            _ = verify("SharedAccessSignature sr=\(number)")
        }
        let long = "https%3a%2f%2fpush.example.test%2f" + String(repeating: "a", count: SharedAccessVerifier.maximumLength)
        _ = verify(SignatureSamples.header(encoded: long))
        _ = verify(nil)
        #expect(verifier.count == 0)
        for number in 1...SharedAccessVerifier.capacity {
            _ = verify(
                SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2f", expiry: "\(1_900_000_000 + number)"))
        }
        #expect(verifier.count == SharedAccessVerifier.capacity)
        _ = verify(SignatureSamples.example)
        #expect((1...SharedAccessVerifier.capacity).contains(verifier.count))
    }

    @Test("is right when many ask at once while rules change")
    func manyAtOnce() async {
        let exchanged = AccessRule(name: AccessRule.fullName, rights: [.send])
        let mine = SignatureSamples.example
        let theirs = SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2f", key: exchanged.secondary)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).count { number in
                        let isMine = (number + task).isMultiple(of: 2)
                        let isExchanged = (number / 2 + task).isMultiple(of: 2)
                        let result = verify(isMine ? mine : theirs, rules: [isExchanged ? exchanged : SignatureSamples.rule])
                        return (SignatureSamples.fault(result) == nil) != (isMine != isExchanged)
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
