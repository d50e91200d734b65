import ClarionTesting
import Foundation
import Testing
import WireText

#if canImport(FoundationXML)
    import FoundationXML
#endif

@testable import HubProtocol

/// Foundation's reader is the second opinion: whatever this product takes for a document, Foundation takes for the same one.
@Suite("XML reading against Foundation's reader")
struct XMLReaderAgainstFoundationTests {
    /// A document as its events: starts with namespace and name, text between them, ends.
    private final class Recorder: NSObject, XMLParserDelegate {
        var events: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            events.append("<\(namespaceURI ?? "") \(name)")
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            events.append(">")
        }
    }

    private func foundation(_ bytes: [UInt8]) -> [String]? {
        let parser = XMLParser(data: Data(bytes))
        parser.shouldProcessNamespaces = true
        let recorder = Recorder()
        parser.delegate = recorder
        return parser.parse() ? recorder.events : nil
    }

    private func events(_ element: XMLElement_) -> [String] {
        ["<\(element.namespace) \(element.name)"] + element.children.flatMap(events) + [">"]
    }

    private typealias XMLElement_ = WireText.XMLElement

    private static let samples = [
        Samples.canonicalEntry, Samples.typedEntry,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<p:a xmlns:p=\"urn:p\" x='1'>\n <b c = \"&lt;\"/><![CDATA[x]]>&#65;<!-- c --></p:a>",
    ]

    @Test("20,000 mutated documents: no crash, and what is accepted is the same document for Foundation")
    func mutated() throws {
        var generator = SeededGenerator()
        print("seed \(generator.seed)")
        var accepted = 0
        for round in 0..<20_000 {
            let bytes = Mutation.mutated(Array(Self.samples[round % Self.samples.count].utf8), &generator)
            guard let root = try? XMLReader.document(bytes, limits: .request) else { continue }
            accepted += 1
            guard round.isMultiple(of: 4) else { continue }
            let other = foundation(bytes)
            #expect(other == events(root), "seed \(generator.seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > 1000, "mutations that break everything test nothing")
    }
}
