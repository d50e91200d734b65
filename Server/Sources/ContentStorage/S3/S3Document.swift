import WireText

/// An answer of a store: names without prefixes, texts without markup. On its namespaces nothing depends.
struct S3Document {
    /// A list of a thousand keys has fewer than 16 elements for each.
    private static let limits = XMLLimits(bytes: S3Client.documentBytes, depth: 8, elements: 50_000)

    private let element: XMLElement

    /// Reads an answer; `nil` for what cannot be read. A store may send blanks before one that takes long.
    init?(_ bytes: [UInt8]) {
        let answer = Array(bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D })
        guard let root = try? XMLReader.document(answer, limits: Self.limits) else { return nil }
        element = root
    }

    private init(_ element: XMLElement) { self.element = element }

    /// The name of the outermost element.
    var name: String { element.name }

    /// The text of the first child of that name.
    subscript(_ name: String) -> String? { element.children.first { $0.name == name }?.text }

    /// All children of that name.
    func all(_ name: String) -> [S3Document] { element.children.filter { $0.name == name }.map(S3Document.init) }
}
