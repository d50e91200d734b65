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
/// let message = SealedMessage(words: SealedText(message: "Meet me at the old harbour"))
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
    ///   - onGap: called before any upload for each user with installations that will not be able to open it. If it throws,
    ///     nothing is sent. If another send took the number, the keys are read again, and it is called for new gaps.
    ///   - idempotencyKey: repeating the call with the same key after an error sends once.
    ///
    /// Throws `SealedSendError`, `SealingError`, and what the backend throws.
    public func send(
        _ message: SealedMessage, to users: [UserName]? = nil, pinned: [SealingDirectory.Key]? = nil,
        idempotencyKey: String = UUID().uuidString, onGap: (SealedSendGap) throws -> Void = { _ in }
    ) async throws -> SendAnswer {
        try message.check()
        let sealer = try Sealer(text: message.words, content: message.content, thumb: message.thumb)
        var reported: Set<SealedSendGap> = []
        var content: String?
        for _ in 0..<Self.attempts {
            let directory = try await backend.sealingDirectory(of: users)
            let recipients = try Self.recipients(try Self.chosen(pinned, of: users, in: directory))
            for gap in SealedSendGap.all(users: users, known: directory.keys, pinned: pinned) where reported.insert(gap).inserted
            {
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
                // Users may have signed in or out since: read the keys again.
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

/// What is to be sent end-to-end encrypted. The sender declares media types and the small picture: the server cannot read the content.
public struct SealedMessage: Sendable {
    public var words: SealedText
    /// At most 50 MB.
    public var content: SealingPart?
    /// At most 500 KB.
    public var thumb: SealingPart?
    /// Absent means `alert`.
    public var style: DeliveryStyle?

    public init(words: SealedText, content: SealingPart? = nil, thumb: SealingPart? = nil, style: DeliveryStyle? = nil) {
        self.words = words
        self.content = content
        self.thumb = thumb
        self.style = style
    }

    /// Throws `unfit` for the first field for which the same send in clear would be refused: only the sender can check sealed content.
    func check() throws(SealedSendError) {
        let texts: [(String, String?, ClosedRange<Int>)] = [
            ("message", words.message, TextRule.message), ("title", words.title, TextRule.title),
            ("subtitle", words.subtitle, TextRule.title), ("altText", words.altText, TextRule.altText),
        ]
        for (field, text, scalars) in texts {
            if let rule = TextRule.fault(of: text, scalars: scalars) { throw .unfit(field: field, rule: rule) }
        }
        try checkKind()
        if let rule = words.link.flatMap(LinkAddressRule.fault) { throw .unfit(field: "link", rule: rule) }
        if let fault = words.coupon.flatMap(TextRule.fault) { throw .unfit(field: fault.field, rule: fault.rule) }
    }

    private func checkKind() throws(SealedSendError) {
        guard ContentKind.known.contains(words.kind), words.kind != .sealed else {
            let kinds = ContentKind.known.filter { $0 != .sealed }.map(\.rawValue).joined(separator: ", ")
            throw .unfit(field: "kind", rule: "one of \(kinds)")
        }
        let parts = [("link", ContentKind.link, words.link != nil), ("coupon", .coupon, words.coupon != nil)]
        for (field, kind, isThere) in parts where isThere != (words.kind == kind) {
            throw .unfit(field: field, rule: isThere ? "absent unless the kind is \(kind.rawValue)" : "present for this kind")
        }
        let needsBytes = [ContentKind.image, .sound, .video, .file].contains(words.kind)
        guard needsBytes == (content != nil) else {
            throw .unfit(field: "content", rule: needsBytes ? "present for this kind" : "absent for kind \(words.kind.rawValue)")
        }
    }
}

/// Why nothing was sent. It contains no key and no text of the message.
public enum SealedSendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A field is not what it must be.
    case unfit(field: String, rule: String)
    /// None of the users is signed in with an app that opens sealed content.
    case noKeys
    /// The pinned keys hold none of this user, who could not open the content.
    case notPinned(user: String)
    /// More installations than one seal is for.
    case tooManyInstallations(Int)
    /// The given key of this user is invalid for sealing.
    case badKey(user: String)
    /// Other sends took each number that was sealed under.
    case overtaken

    public var description: String {
        switch self {
        case .unfit(let field, let rule): "\(field): it must be \(rule)"
        case .noKeys: "there is no key to seal for: none of the users is signed in with an app that opens sealed content"
        case .notPinned(let user): "the keys given hold none of \(user), who could open nothing; see `clarion keys --to \(user)`"
        case .tooManyInstallations(let count):
            "a seal is for \(Sealer.recipientLimit) installations at most, and these are \(count)"
        case .badKey(let user): "the key that stands for an installation of \(user) is no key"
        case .overtaken: "other sends were faster each time; try again"
        }
    }
}

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
