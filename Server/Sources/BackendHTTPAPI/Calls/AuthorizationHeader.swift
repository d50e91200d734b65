import AppBackend
import HTTPTypes
import ServiceErrors
import SharedAccess

/// Reads `Authorization`: Basic (RFC 7617) or the Bearer credential of an installation (RFC 6750).
enum AuthorizationHeader {
    /// Throws `unauthenticated` when there is none, more than one, or one that cannot be read. The detail never quotes it.
    static func credential(in headers: HTTPFields) throws(ServiceError) -> PresentedCredential {
        let values = headers[values: .authorization]
        guard let value = values.first else { throw ServiceError(.unauthenticated, "there is no Authorization header") }
        guard values.count == 1 else { throw ServiceError(.unauthenticated, "there is more than one Authorization header") }
        if let basic = BasicCredential(header: value) { return .basic(user: basic.user, password: basic.password) }
        guard let bearer = bearer(value) else {
            throw ServiceError(.unauthenticated, "the Authorization header cannot be read as Basic or Bearer")
        }
        return .bearer(bearer)
    }

    private static func bearer(_ value: String) -> String? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer", value.utf8.count <= BasicCredential.maximumHeaderLength else {
            return nil
        }
        let text = parts[1].drop { $0 == " " }
        return !text.isEmpty && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) } ? String(text) : nil
    }
}
