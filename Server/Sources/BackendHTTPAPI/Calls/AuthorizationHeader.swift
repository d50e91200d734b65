import AppBackend
import HTTPTypes
import ServiceErrors

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads `Authorization`: Basic (RFC 7617, UTF-8) or the Bearer credential of an installation (RFC 6750).
enum AuthorizationHeader {
    /// The most bytes of a header that is looked at.
    static let maximumLength = 4_096

    /// Throws `unauthenticated` when there is none, more than one, or one that cannot be read. The detail never quotes it.
    static func credential(in headers: HTTPFields) throws(ServiceError) -> PresentedCredential {
        let values = headers[values: .authorization]
        guard let value = values.first else { throw ServiceError(.unauthenticated, "there is no Authorization header") }
        guard values.count == 1, value.utf8.count <= maximumLength, let space = value.firstIndex(of: " ") else {
            throw ServiceError(.unauthenticated, "the Authorization header cannot be read")
        }
        let text = value[space...].drop { $0 == " " }
        switch value[..<space].lowercased() {
        case "basic": return try basic(text)
        case "bearer":
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
                throw ServiceError(.unauthenticated, "the Bearer credential cannot be read")
            }
            return .bearer(String(text))
        default:
            throw ServiceError(.unauthenticated, "the authorization scheme must be Basic or Bearer")
        }
    }

    private static func basic(_ text: Substring) throws(ServiceError) -> PresentedCredential {
        guard let bytes = Data(base64Encoded: padded(text)), let pair = String(validating: bytes, as: UTF8.self),
            let colon = pair.firstIndex(of: ":"), !pair.utf8.contains(0)
        else { throw ServiceError(.unauthenticated, "the Basic credential cannot be read") }
        return .basic(user: String(pair[..<colon]), password: String(pair[pair.index(after: colon)...]))
    }

    /// Old clients leave the padding out.
    private static func padded(_ text: Substring) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
