/// Reads the conditions of a `$filter`.
struct FilterScanner {
    private var rest: Substring.UnicodeScalarView
    private let length: Int

    init(_ text: String) {
        rest = Substring(text).unicodeScalars
        length = rest.count
    }

    /// `{Property} eq '{value}'`.
    mutating func condition() throws(HubRequestFault) -> RegistrationFilter.Condition {
        skipBlanks()
        let name = word().lowercased()
        guard let property = RegistrationFilter.Property.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
            throw fault("the name of a handle is expected, such as ChannelUri or DeviceToken")
        }
        skipBlanks()
        guard word().lowercased() == "eq" else { throw fault("only the operator eq is known") }
        skipBlanks()
        let value = try value()
        guard !value.isEmpty else { throw fault("the value is empty") }
        return RegistrationFilter.Condition(property, value)
    }

    /// Whether another condition follows. Throws when something else does.
    mutating func skipAnd() throws(HubRequestFault) -> Bool {
        skipBlanks()
        guard !rest.isEmpty else { return false }
        guard word().lowercased() == "and" else { throw fault("only and joins conditions") }
        return true
    }

    /// A text in quotes, where two quotes stand for one; the opening quote may be missing, as one client omits it.
    private mutating func value() throws(HubRequestFault) -> String {
        if rest.first == "'" { rest.removeFirst() }
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            guard scalar == "'" else {
                value.append(scalar)
                continue
            }
            guard rest.first == "'" else { return String(value) }
            value.append(scalar)
            rest.removeFirst()
        }
        throw fault("a quote is missing")
    }

    private mutating func word() -> String {
        let letters = rest.prefix { $0.properties.isAlphabetic || $0.properties.numericType != nil }
        rest = rest.dropFirst(letters.count)
        return String(String.UnicodeScalarView(letters))
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

    private func fault(_ reason: String) -> HubRequestFault {
        HubRequestFault(at: "$filter, character \(length - rest.count + 1)", reason)
    }
}
