import HTTPService
import ServerSettings
import ServiceErrors

/// A body of which one field, the kind, says which of the others it may have.
struct FieldsByKind: Sendable {
    /// The field that says it.
    let kindField: String
    /// What every kind may have.
    let shared: Set<String>
    /// What a kind may have besides.
    let own: [String: Set<String>]

    var all: Set<String> { own.values.reduce(shared.union([kindField])) { $0.union($1) } }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// Throws `invalid-field` for a kind that there is not, and for a field of another kind.
    func check(_ kind: String, in bytes: [UInt8]) throws {
        guard let own = own[kind] else { throw ServiceError(.invalidField, "field '\(kindField)': \(unknown(kind))") }
        let allowed = shared.union(own)
        let given = try JSONFields.decode([String: AnyValue].self, from: bytes).keys
        for field in given.sorted() where field != kindField && !allowed.contains(field) {
            let expectation = own.isEmpty ? "none of its own" : own.sorted().joined(separator: ", ")
            throw ServiceError(.invalidField, "field '\(field)' does not belong to '\(kind)', which has \(expectation)")
        }
    }

    private func unknown(_ kind: String) -> String {
        let expected = "expected one of \(own.keys.sorted().joined(separator: ", "))"
        return Spelling.nearest(to: kind, among: own.keys.sorted()).map { "did you mean \($0)? \(expected)" } ?? expected
    }
}
