/// An answer of a store as a tree: names without prefixes, texts without markup. Reads what stores write and no more: no document
/// types, no processing instructions but the first line, no comments.
struct S3Document: Hashable {
    let name: String
    let text: String
    let children: [S3Document]

    /// Reads an answer; `nil` for what cannot be read.
    init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let root = reader.document() else { return nil }
        self = root
    }

    private init(name: String, text: String, children: [S3Document]) {
        self.name = name
        self.text = text
        self.children = children
    }

    /// The text of the first child of that name.
    subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    /// All children of that name.
    func all(_ name: String) -> [S3Document] { children.filter { $0.name == name } }

    private struct Reader {
        private static let deepest = 8

        let bytes: [UInt8]
        private var offset = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        mutating func document() -> S3Document? {
            skipSpace()
            if isAt("<?") {
                guard skip(through: "?>") else { return nil }
            }
            skipSpace()
            guard let root = element(depth: 1) else { return nil }
            skipSpace()
            return offset == bytes.count ? root : nil
        }

        private mutating func element(depth: Int) -> S3Document? {
            guard depth <= Self.deepest, take("<"), let name = name() else { return nil }
            // Of attributes only namespaces occur, and nothing here depends on them.
            while offset < bytes.count, bytes[offset] != UInt8(ascii: ">"), !isAt("/>") { offset += 1 }
            if take("/>") { return S3Document(name: name, text: "", children: []) }
            guard take(">") else { return nil }
            var text: [UInt8] = []
            var children: [S3Document] = []
            while !isAt("</") {
                guard offset < bytes.count else { return nil }
                if bytes[offset] == UInt8(ascii: "<") {
                    guard let child = element(depth: depth + 1) else { return nil }
                    children.append(child)
                } else {
                    guard let next = character() else { return nil }
                    text += next
                }
            }
            guard take("</"), self.name() == name else { return nil }
            skipSpace()
            guard take(">") else { return nil }
            return S3Document(name: name, text: children.isEmpty ? String(decoding: text, as: UTF8.self) : "", children: children)
        }

        /// A name without its prefix.
        private mutating func name() -> String? {
            let start = offset
            while offset < bytes.count, ![0x20, 0x09, 0x0A, 0x0D, 0x2F, 0x3E, 0x3C].contains(bytes[offset]) { offset += 1 }
            let name = String(decoding: bytes[start..<offset], as: UTF8.self)
            return name.split(separator: ":").last.map(String.init)
        }

        private mutating func character() -> [UInt8]? {
            guard bytes[offset] == UInt8(ascii: "&") else {
                defer { offset += 1 }
                return [bytes[offset]]
            }
            guard let end = bytes[offset...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let entity = String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)
            offset = end + 1
            switch entity {
            case "amp": return [UInt8(ascii: "&")]
            case "lt": return [UInt8(ascii: "<")]
            case "gt": return [UInt8(ascii: ">")]
            case "quot": return [UInt8(ascii: "\"")]
            case "apos": return [UInt8(ascii: "'")]
            default:
                let number =
                    entity.hasPrefix("#x")
                    ? UInt32(entity.dropFirst(2), radix: 16) : entity.hasPrefix("#") ? UInt32(entity.dropFirst()) : nil
                return number.flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) }
            }
        }

        private func isAt(_ text: String) -> Bool { bytes[offset...].starts(with: text.utf8) }

        private mutating func take(_ text: String) -> Bool {
            guard isAt(text) else { return false }
            offset += text.utf8.count
            return true
        }

        private mutating func skip(through text: String) -> Bool {
            while offset < bytes.count {
                if take(text) { return true }
                offset += 1
            }
            return false
        }

        private mutating func skipSpace() {
            while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
        }
    }
}
