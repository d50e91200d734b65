import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// The most users that one question names: as many as an audience of alternatives (Reference/AzureNotificationHubs.md#3-2).
    private static let userLimit = 20
    /// The most keys of one answer, which is for how many a seal may be.
    private static let keyLimit = 100

    /// What a sender needs to seal: the keys of the users' installations that are signed in, and a number. Without names the
    /// caller's own. A user who does not exist has no installations.
    ///
    /// Throws `forbidden` for an installation credential, and for a plain user who asks for anybody else; `invalid-field` for
    /// names that are none, for too many of them, and when there are more keys than one seal can be for.
    public func sealingDirectory(users names: [String]?, for principal: Principal) async throws -> SealingDirectory {
        try principal.requirePassword(to: "ask for keys")
        var keys: [SealingDirectory.Key] = []
        for name in try Self.names(names, principal) { keys += try await Self.keys(of: name, parts) }
        guard keys.count <= Self.keyLimit else {
            throw ServiceError(
                .invalidField, "users: they have \(keys.count) installations, and a seal is for \(Self.keyLimit) at most")
        }
        let last = try await parts.stores.notifications.lastNumber()
        guard let number = NumberAhead.number(after: last) else {
            throw ServiceError(.quotaExceeded, "the numbers of rich notifications are used up")
        }
        return SealingDirectory(number: number, keys: keys)
    }

    private static func names(_ names: [String]?, _ principal: Principal) throws -> [UserName] {
        guard let names else { return [principal.name] }
        let users = names.compactMap { UserName($0) }
        guard (1...userLimit).contains(users.count), users.count == names.count, Set(users).count == users.count else {
            throw ServiceError(.invalidField, "users: 1 to \(userLimit) different user names, with commas between them")
        }
        guard principal.role != .user || users == [principal.name] else {
            throw ServiceError(.forbidden, "your role sends to your own devices only")
        }
        return users
    }

    private static func keys(of name: UserName, _ parts: BackendParts) async throws -> [SealingDirectory.Key] {
        guard let user = try await parts.stores.users.user(named: name) else { return [] }
        return try await parts.stores.bindings.bindings(of: user.user.id, since: .last, limit: bindingLimit)
            .filter { $0.until == nil }
            .compactMap { binding in
                guard let key = binding.device.sealingKey, let id = InstallationID(binding.device.record.text) else { return nil }
                return SealingDirectory.Key(installation: id, user: user.user.name.text, key: key, since: binding.from)
            }
            .sorted { $0.installation.text < $1.installation.text }
    }
}
