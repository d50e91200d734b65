extension XMLReader {
    /// `<?xml version="1.0" encoding="…" standalone="…"?>`. The name of the encoding must be one of those that are read; which
    /// of them it is, the bytes say: .NET writes `utf-16` on texts that travel as UTF-8
    /// (Reference/AzureNotificationHubs.md#2-11).
    mutating func readDeclaration() throws(XMLFault) {
        cursor.advance(5)
        var expected: [String] = ["version", "encoding", "standalone"]
        var first = true
        while true {
            let spaced = cursor.skipSpace()
            if cursor.take("?>") { break }
            guard spaced else { throw cursor.fault(.expected("a blank")) }
            let name = try cursor.readName()
            guard let index = expected.firstIndex(of: name), !first || index == 0 else {
                throw cursor.fault(.expected("an XML declaration"))
            }
            try check(name, try readPseudoAttribute())
            expected.removeFirst(index + 1)
            first = false
        }
        guard !first else { throw cursor.fault(.expected("a version")) }
    }

    private mutating func readPseudoAttribute() throws(XMLFault) -> String {
        cursor.skipSpace()
        guard cursor.take("=") else { throw cursor.fault(.expected("=")) }
        cursor.skipSpace()
        guard let quote = cursor.takeQuote() else { throw cursor.fault(.expected("a quotation mark")) }
        return try cursor.read(until: quote)
    }

    private func check(_ name: String, _ value: String) throws(XMLFault) {
        switch name {
        case "version":
            guard value == "1.0" || value == "1.1" else { throw cursor.fault(.expected("version 1.0")) }
        case "encoding":
            guard ["utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "us-ascii"].contains(value.lowercased()) else {
                throw cursor.fault(.unsupportedEncoding)
            }
        default:
            guard value == "yes" || value == "no" else { throw cursor.fault(.expected("yes or no")) }
        }
    }
}
