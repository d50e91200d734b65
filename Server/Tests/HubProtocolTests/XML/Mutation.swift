import ClarionTesting

/// Small damage to bytes: what fuzz tests do to documents.
enum Mutation {
    private static let pieces: [[UInt8]] = [
        "<", ">", "</", "/>", "&", ";", "&lt;", "&#x41;", "&#0;", "\"", "'", "=", " ", "\n", "\r\n", "<![CDATA[", "]]>", "<!--",
        "-->", "<?", "?>", "<!DOCTYPE a>", "xmlns=\"\"", "xmlns:i=\"u\"", " i:nil=\"true\"", ":", "é", "😀", "\u{0}", "\u{FFFE}",
        "<a>", "</a>", "<b/>",
    ].map { Array($0.utf8) }

    static func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard !bytes.isEmpty else { return bytes }
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 1...12, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0...bytes.count, using: &generator))
            case 3: bytes.removeSubrange(place...)
            case 4: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
            default: bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
            }
        }
        return bytes
    }
}
