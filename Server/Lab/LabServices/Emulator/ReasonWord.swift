import APNsProtocol
import ServerSettings
import ServiceErrors

/// A reason of APNs in a request to the administration.
enum ReasonWord {
    /// Throws `invalid-field` for a word that the table does not have, unless it is said to be meant: a typing error would test how a
    /// client takes unknown words.
    static func reason(_ word: String, isUnlisted: Bool = false) throws(ServiceError) -> APNsReason {
        let reason = APNsReason(rawValue: word)
        if isUnlisted {
            guard (1...64).contains(word.utf8.count) else { throw ServiceError(.invalidField, "field 'reason': expected a word") }
            return reason
        }
        guard APNsReason.documented.contains(reason) else {
            throw ServiceError(.invalidField, "field 'reason': \(unknown(word)), or \"unlisted\": true to send it all the same")
        }
        return reason
    }

    /// What is said of a word that no reason is.
    static func unknown(_ word: String) -> String {
        Spelling.nearest(to: word, among: APNsReason.documented.map(\.rawValue).sorted()).map { "did you mean \($0)?" }
            ?? "expected a reason of APNs as in Apple's table"
    }
}
