import HubProtocol
import ServiceErrors

/// The push variables of a registration: an object of texts, written as text into an element
/// (Reference/AzureNotificationHubs.md#2-1).
enum PushVariables {
    /// Reads the element. Throws `invalid-field`.
    static func read(_ text: String?) throws -> [String: String] {
        guard let text else { return [:] }
        guard let json = try? WireJSON(parsing: text.utf8), case .object(let members) = json else {
            throw ServiceError(.invalidField, "PushVariables is not the text of a JSON object")
        }
        return members.reduce(into: [:]) { values, member in
            if case .string(let value) = member.value {
                values[member.name] = value
            } else {
                values[member.name] = member.value.text
            }
        }
    }

    /// The element's text, in the order of the names; `nil` when there are none.
    static func text(_ values: [String: String]) -> String? {
        guard !values.isEmpty else { return nil }
        return WireJSON.object(values.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).text
    }
}
