import RichPushModel
import ServiceErrors
import TagExpressions

/// Decides to whom a caller may send, and describes who will be able to read it.
struct AudienceRule {
    var principal: Principal

    /// The audience of a request; absent means the sender's own devices. Throws `invalid-audience` for a malformed expression
    /// and `forbidden` for a plain user who addresses another user.
    func audience(of text: String?) throws -> TagExpression {
        guard let text else {
            guard principal.key == nil else {
                throw ServiceError(.invalidAudience, "audience: a service key has no devices of its own; name an audience")
            }
            return own
        }
        let expression: TagExpression
        do { expression = try TagExpression(parsing: text) } catch {
            throw ServiceError(.invalidAudience, "audience: \(error)")
        }
        // Storage keeps the text with its blanks; one at the very limit of length would not read back.
        guard (try? TagExpression(parsing: expression.description)) != nil else {
            throw ServiceError(.invalidAudience, "audience: the tag expression is too long")
        }
        return try allowed(expression)
    }

    /// The devices of one user.
    func audience(ofUser name: String) throws -> TagExpression {
        guard let user = UserName(name) else {
            throw ServiceError(.invalidField, "to_tag: a user name has 1 to 64 of A-Z a-z 0-9 _ @ . -")
        }
        return try allowed(.tag(.user(user)))
    }

    /// The sender's own devices.
    var own: TagExpression { .tag(.user(principal.name)) }

    /// A description of who may read a send of this kind to this audience.
    func readers(of audience: TagExpression, _ kind: ContentKind) -> String {
        if kind == .sealed {
            let who = audience == own ? "you" : "the users that the audience names"
            return who + ", on the devices that it was sealed for; those of a later sign-in show the neutral text"
        }
        if audience == own { return "you, on every device you sign in on" }
        let named = audience.tags.allSatisfy { $0.folded.hasPrefix(Self.userPrefix) }
        if named, !audience.matches([]) { return "you and the users that the audience names, on every device they sign in on" }
        return "you, the users that the audience names, and every user with a device that matches the audience at any time until "
            + "the send completes; users may choose tags that are not protected themselves"
    }

    private static let userPrefix = "username:"

    private func allowed(_ expression: TagExpression) throws -> TagExpression {
        if let key = principal.key, !key.allows(expression) {
            let prefixes = key.scopes.compactMap(\.audiencePrefix).joined(separator: ", ")
            throw ServiceError(.forbidden, "audience: this service key sends to tags that begin with \(prefixes) only")
        }
        guard expression == own || AccessTable.extent(of: .send, for: principal) == .all else {
            throw ServiceError(.forbidden, "your role sends to your own devices only")
        }
        return expression
    }
}
