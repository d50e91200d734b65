import RichPushModel

/// Installations of a user that get a sealed send and cannot open it: they show the neutral text.
public struct SealedSendGap: Hashable, Sendable, CustomStringConvertible {
    public var user: String
    /// How many of the user's installations open sealed content, by what the backend says.
    public var installations: Int
    /// How many of them have no key among those that were given.
    public var missing: Int
    /// How many of them were given with another key than the backend names: they signed in anew, or one of the two lies.
    public var differing: Int

    public var description: String {
        guard installations > 0 else { return "\(user) is not signed in with an app that opens sealed content" }
        var reasons: [String] = []
        if missing > 0 { reasons.append("the keys given hold none for \(missing)") }
        if differing > 0 { reasons.append("the server names another key for \(differing)") }
        let whose = "\(user)'s \(installations == 1 ? "only device" : "\(installations) devices")"
        let closed = missing + differing
        let count = closed == installations ? installations == 1 ? "" : "none of " : "\(closed) of "
        let verb = closed == installations ? installations == 1 ? "cannot open it" : "can open it" : "cannot open it"
        return "\(count)\(whose) \(verb): \(reasons.joined(separator: ", "))"
    }

    /// The gaps of a send, in the order of the users.
    static func all(
        users: [UserName]?, known: [SealingDirectory.Key], pinned: [SealingDirectory.Key]?
    ) -> [SealedSendGap] {
        names(users: users, known: known).compactMap { name in
            let theirs = known.filter { $0.isOf(name) }
            var gap = SealedSendGap(user: name, installations: theirs.count, missing: 0, differing: 0)
            for key in theirs {
                guard let pinned else { continue }
                let given = pinned.filter { $0.isOf(name) && $0.installation == key.installation }
                if given.isEmpty { gap.missing += 1 }
                if !given.isEmpty, !given.contains(where: { $0.key == key.key }) { gap.differing += 1 }
            }
            return theirs.isEmpty || gap.missing + gap.differing > 0 ? gap : nil
        }
    }

    /// Whom a send is for; without names the caller, whom only the backend's keys name.
    static func names(users: [UserName]?, known: [SealingDirectory.Key]) -> [String] {
        if let users { return users.map(\.text) }
        var names: [String] = []
        for key in known where !names.contains(where: key.isOf) { names.append(key.user) }
        return names
    }
}

extension SealingDirectory.Key {
    /// Names are the same whatever their case.
    func isOf(_ name: String) -> Bool { user.lowercased() == name.lowercased() }
}
