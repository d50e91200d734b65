import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends end-to-end encrypted, from the sender's own process: content is sealed once, and its key is wrapped for each of up to 100
/// installations. Server, hub and Apple carry what they cannot read.
///
/// ```swift
/// let backend = try RemoteAppBackend("https://push.example.com", user: "carol", password: password)
/// let message = SealedMessage(words: SealedWords(message: "Meet me at the old harbour"))
/// let answer = try await SealedSender(backend).send(message, to: [alice])
/// ```
///
/// It writes no log.
public struct SealedSender: Sendable {
    /// How often the number is asked for anew when other sends are faster.
    private static let attempts = 5

    private let backend: any SealedBackend

    /// A sender through a backend.
    public init(_ backend: any SealedBackend) { self.backend = backend }

    /// Seals and sends. Everything that can fail for want of a key or by its size fails before anything is uploaded.
    ///
    /// - Parameters:
    ///   - users: up to 20 whose installations get it; absent means the caller's own.
    ///   - pinned: the only keys to seal for, whatever the backend says: then it need not be trusted with them. Those of other
    ///     users than the named ones are left out.
    ///   - onGap: told before anything is uploaded of each user with installations that will not be able to open it. When it
    ///     throws, nothing is sent. When another send was faster, who can open it is looked up anew, and what is new of it told.
    ///   - idempotencyKey: repeating the call with the same key after an error sends once.
    ///
    /// Throws `SealedSendError`, `SealingError`, and what the backend throws.
    public func send(
        _ message: SealedMessage, to users: [UserName]? = nil, pinned: [SealingDirectory.Key]? = nil,
        idempotencyKey: String = UUID().uuidString, onGap: (SealedSendGap) throws -> Void = { _ in }
    ) async throws -> SendAnswer {
        try message.check()
        let sealer = try Sealer(words: message.words, content: message.content, thumb: message.thumb)
        var told: Set<SealedSendGap> = []
        var content: String?
        for _ in 0..<Self.attempts {
            let directory = try await backend.sealingDirectory(of: users)
            let recipients = try Self.recipients(try Self.chosen(pinned, of: users, in: directory))
            for gap in SealedSendGap.all(users: users, known: directory.keys, pinned: pinned) where told.insert(gap).inserted {
                try onGap(gap)
            }
            let envelope = try sealer.envelope(for: directory.number, to: recipients)
            if content == nil, let sealed = sealer.content { content = try await backend.upload(sealed: sealed) }
            let uploaded = try await backend.upload(sealed: envelope)
            var request = SendRequest(message: "")
            request.kind = .sealed
            request.id = directory.number
            request.audience = users.map { names in names.map { "username:\($0)" }.joined(separator: " || ") }
            request.style = message.style
            request.contentID = content ?? uploaded
            request.thumbID = uploaded
            do {
                return try await backend.send(request, idempotencyKey: idempotencyKey)
            } catch let problem as Problem where problem.code == "conflict" {
                // Whoever signed in since has another key, and whoever signed out has none.
                continue
            }
        }
        throw SealedSendError.overtaken
    }

    /// The keys to seal for: of the named users, and of the pinned ones if there are such.
    private static func chosen(
        _ pinned: [SealingDirectory.Key]?, of users: [UserName]?, in directory: SealingDirectory
    ) throws(SealedSendError) -> [SealingDirectory.Key] {
        guard !directory.keys.isEmpty else { throw .noKeys }
        guard let pinned else { return directory.keys }
        let names = SealedSendGap.names(users: users, known: directory.keys)
        for name in names where !pinned.contains(where: { $0.isOf(name) }) { throw .notPinned(user: name) }
        return pinned.filter { key in names.contains(where: key.isOf) }
    }

    private static func recipients(_ keys: [SealingDirectory.Key]) throws(SealedSendError) -> [SealingRecipient] {
        guard !keys.isEmpty else { throw .noKeys }
        guard keys.count <= Sealer.recipientLimit else { throw .tooManyInstallations(keys.count) }
        var recipients: [SealingRecipient] = []
        for entry in keys {
            guard let key = try? SealingPublicKey(entry.key) else { throw .badKey(user: entry.user) }
            recipients.append(SealingRecipient(installation: entry.installation, key: key))
        }
        return recipients
    }
}
