/// An expression, read once: one term, or several that are joined (Reference/AzureNotificationHubs.md#4-2).
struct TemplateExpression: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        case literal(String)
        case property(Property)
    }

    /// A place that a property fills.
    struct Property: Hashable, Sendable {
        /// What becomes of the value.
        enum Form: Hashable, Sendable {
            /// `$(name)`
            case whole
            /// `$(name, n)`
            case cut(Int)
            /// `.(name, n)`
            case dotted(Int)
            /// `%(name)`
            case encoded
            /// `#(name)`
            case bare
        }

        /// The name in lower case; names compare without regard to case.
        let name: String
        let form: Form
        /// What stands in for a property that the send lacks.
        let fallback: String?
    }

    let terms: [Term]

    /// The only term, if it is `#(name)`: that form is never joined with others.
    var bareProperty: Property? {
        guard terms.count == 1, case .property(let property) = terms[0], property.form == .bare else { return nil }
        return property
    }
}
