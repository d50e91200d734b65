import RichPushModel
import ServiceErrors
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the operator owes a person: everything that is stored about them, and its removal.
extension RichPushBackend {
    /// Hands out everything that is stored about a user: each record as one line of JSON, and each content of theirs. Throws
    /// `not-found`.
    ///
    /// The last lines, of kind `inbox`, are what they may read now, whoever sent it.
    public func exportUser(
        name: String, line: (String) async throws -> Void,
        content: (_ id: String, _ fileName: String?, ReadableContent) async throws -> Void
    ) async throws {
        let user = try await user(name)
        for kind in parts.stores.persons.kinds {
            var cursor: PersonValue?
            repeat {
                let page = try await parts.stores.persons.records(kind, of: user.id, after: cursor, limit: Self.exportPage)
                for record in page {
                    try await line(record.json)
                    if kind == "contents" { try await export(record, content) }
                }
                cursor = page.count == Self.exportPage ? page.last?.cursor : nil
            } while cursor != nil
        }
        try await exportInbox(of: Principal(user: user), line)
    }

    /// Removes everything that is stored about a user and what they sent, bytes included; what others sent to more than them
    /// stays and names them no more. It can be repeated after it was cut off. Throws `not-found`.
    ///
    /// Bytes that were stored within the last hour go with the next sweep of the server.
    public func eraseUser(name: String) async throws {
        let user = try await user(name)
        let persons = parts.stores.persons
        try await persons.lockOut(user.id)
        parts.authenticator.forget()
        bearers.forget()
        // The hub first: nothing may leave any more for a person of whom nothing is known.
        for record in try await persons.devices(of: user.id) { _ = try await parts.hub.removeDevice(record) }
        // A request that signed in before may write until the user is gone, so there is a second look after that.
        for _ in 0..<2 {
            try await recallAll(of: user)
            try await persons.erase(user, at: parts.clock.now)
        }
        try await parts.stores.signInCounts.forget(account: SignInAttempt.account(of: user.name.text))
        try await BackendSweep(parts: parts, strays: StrayWalk()).removeOrphans()
    }

    private func recallAll(of user: User) async throws {
        while true {
            let due = try await parts.stores.persons.notificationsToRecall(of: user, limit: Self.exportPage)
            if due.isEmpty { return }
            for id in due {
                let now = parts.clock.now
                _ = try await parts.stores.notifications.recall(id, at: now, contentExpiry: now)
                try await outbox.cancel(id)
            }
        }
    }

    private static let exportPage = 200

    private func export(
        _ record: PersonRecord, _ content: (String, String?, ReadableContent) async throws -> Void
    ) async throws {
        guard case .text(let id) = record.cursor,
            let stored = try await parts.stores.contents.content(id, at: parts.clock.now),
            let reader = try await parts.contentStore.open(stored.digest)
        else { return }
        try await content(id, stored.fileName, ReadableContent(descriptor: stored.descriptor, reader: reader))
    }

    private func exportInbox(of principal: Principal, _ line: (String) async throws -> Void) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var before: String?
        repeat {
            let page = try await inbox(before: before, limit: 100, for: principal)
            for entry in page.notifications {
                let json = String(decoding: try encoder.encode(entry), as: UTF8.self)
                try await line(JSONText.object([("kind", JSONText.string("inbox")), ("fields", json)]))
            }
            before = page.next
        } while before != nil
    }
}

extension PersonRecord {
    /// As one line.
    var json: String {
        let fields = fields.map { field -> (String, String?) in
            switch field.value {
            case .absent: (field.name, "null")
            case .number(let number): (field.name, "\(number)")
            case .text(let text): (field.name, JSONText.string(text))
            }
        }
        return JSONText.object([("kind", JSONText.string(kind)), ("fields", JSONText.object(fields))])
    }
}
