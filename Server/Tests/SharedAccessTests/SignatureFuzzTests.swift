import ClarionTesting
import RichPushModel
import Testing

@testable import SharedAccess

@Suite struct SignatureFuzzTests {
    private static let fragments = [
        "SharedAccessSignature", " ", "sr=", "sig=", "se=", "skn=", "&", "=", "%", "%00", "%2f", "%25", "+", "/", ":",
        "https%3a%2f%2f",
        "push.example.test", "1900000000", "99999999999999999999", "DefaultFullSharedAccessSignature", "\u{0}", "é", "[", "]",
        "@", "..", "?", "#",
    ]

    @Test("ten thousand random headers: none crashes, none is admitted")
    func random() {
        var generator = SeededGenerator()
        for _ in 0..<5_000 {
            let header = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                Self.fragments.randomElement(using: &generator) ?? ""
            }.joined()
            #expect(SignatureSamples.fault(SignatureSamples.verify(header)) != nil, "seed \(generator.seed): \(header)")
        }
        for _ in 0..<5_000 {
            let header = SignatureSamples.header(encoded: "https%3a%2f%2fpush.example.test%2f", key: .random())
            let changed = Self.change(header, using: &generator)
            #expect(SignatureSamples.fault(SignatureSamples.verify(changed)) != nil, "seed \(generator.seed): \(changed)")
        }
    }

    @Test("a valid header that was changed is admitted only if it still carries what was signed")
    func changed() throws {
        var generator = SeededGenerator()
        let original = try SharedAccessSignature(header: SignatureSamples.example)
        var admitted = 0
        for _ in 0..<10_000 {
            let header = Self.change(SignatureSamples.example, using: &generator)
            guard SignatureSamples.fault(SignatureSamples.verify(header)) == nil else { continue }
            admitted += 1
            let read = try SharedAccessSignature(header: header)
            #expect(read.audience == original.audience && read.expiry == original.expiry, "seed \(generator.seed): \(header)")
            #expect(read.code == original.code && read.ruleName == original.ruleName, "seed \(generator.seed): \(header)")
        }
        // The case of the scheme and of the signature's escapes is free, so some must have been.
        #expect(admitted < 5_000, "seed \(generator.seed)")
    }

    /// Replaces, removes, doubles or adds something somewhere.
    private static func change(_ header: String, using generator: inout SeededGenerator) -> String {
        var characters = Array(header)
        let index = Int.random(in: characters.indices, using: &generator)
        let fragment = Array(fragments.randomElement(using: &generator) ?? "x")
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: characters.remove(at: index)
        case 1: characters.insert(contentsOf: fragment, at: index)
        case 2: characters[index] = fragment.first ?? "x"
        case 3: characters.swapAt(index, Int.random(in: characters.indices, using: &generator))
        default: characters.removeSubrange(index..<min(characters.count, index + Int.random(in: 1...20, using: &generator)))
        }
        return String(characters)
    }
}
