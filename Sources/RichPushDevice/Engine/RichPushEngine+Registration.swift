import RichPushModel
import RichPushSealing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// The system gave a device token, which is never used as an identity (Reference/IOSClient.md#7). Apple's is hexadecimal text of any
    /// length; that of another platform is sent as it is.
    public func didRegister(token: String) {
        self.token = token
        startRegistration()
    }

    /// The system gave no token. The next launch or `refresh` asks again.
    public func didFailToRegister(reason: String) {
        device.log.record(DeviceEvent(.registrationFailed, nil, ["reason": reason]))
    }

    /// Registers this installation at the server if something has changed. Calls that come meanwhile are part of it.
    func startRegistration() {
        guard registration == nil, activeSession != nil, token != nil else { return }
        registration = Task { await registerUntilAcknowledged() }
    }

    private func registerUntilAcknowledged() async {
        var retry = RetrySchedule()
        while !Task.isCancelled {
            let update = await installationUpdate()
            guard let session = activeSession, isDue(update, in: session) else { break }
            do throws(RichPushError) {
                let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
                let (taken, answer) = try await register(update, in: session) { update throws(RichPushError) in
                    try await self.authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                        try await self.put(update, installation: session.installation, as: authorization, within: deadline)
                    }
                }
                guard isCurrent(session) else { break }
                try storing { () throws(StorageError) in try acknowledge(taken, answer, in: session) }
                device.log.record(DeviceEvent(.registered))
            } catch {
                device.log.record(DeviceEvent(.registrationFailed, nil, ["reason": error.code]))
                guard error.isTransient, let pause = retry.next(fraction: device.identifiers.fraction(), asked: error.pause),
                    (try? await device.clock.sleep(for: pause)) != nil
                else { break }
            }
        }
        if !Task.isCancelled { registration = nil }
    }

    /// The current state of this installation for the server.
    func installationUpdate() async -> InstallationUpdate {
        var update = await plainUpdate()
        (update.tags, update.sealingKey) = (currentTags, sealingKey())
        return update
    }

    /// The same without what belongs to a user.
    func plainUpdate() async -> InstallationUpdate {
        let facts = await app.environment.installationFacts()
        let permission = await app.notifications.permission()
        let isApple = facts.platform == .apns
        var update = InstallationUpdate(
            platform: facts.platform.rawValue, handle: isApple ? token?.uppercased() : token,
            environment: isApple ? facts.environment : nil, topic: isApple ? facts.bundleID : nil,
            locale: Self.fact(facts.locale),
            appVersion: Self.fact(facts.appVersion), systemVersion: Self.fact(facts.systemVersion),
            timeZone: Self.fact(facts.timeZone), permission: permission.rawValue, capabilities: capabilities(facts))
        let languages = facts.languages.prefix(InstallationUpdate.languageLimit).compactMap(Self.fact)
        update.languages = languages.isEmpty ? nil : languages
        return update
    }

    /// A text that the server accepts: a build's own description must never prevent a sign-in.
    private static func fact(_ text: String?) -> String? {
        let plain = (text ?? "").unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }
        let short = String(String.UnicodeScalarView(plain.prefix(64)))
        return short.isEmpty ? nil : short
    }

    /// In a fixed order, so that the same capabilities are no change.
    private func capabilities(_ facts: InstallationFacts) -> [String] {
        let configured = [
            ("background-refresh", configuration.refreshTask != nil && app.scheduling != nil),
            ("replies", configuration.offersReply), ("sealed-content", configuration.opensSealedContent),
        ]
        return Set(facts.capabilities + configured.filter(\.1).map(\.0)).sorted()
    }

    /// The environments of APNs that the server has a credential for, as last reported; `nil` when it has reported none.
    public var serverEnvironments: [String]? {
        session.flatMap { acknowledged(in: $0)?.environments }
    }

    /// What the server last accepted for this session's installation.
    func acknowledged(in session: Session) -> RegistrationState? {
        (try? records.read(RegistrationState.self, registrationKey(of: session))) ?? nil
    }

    private func registrationKey(of session: Session) -> RecordKey { RecordKey(.state, "registration", of: session.id) }

    func put(
        _ update: InstallationUpdate, installation: InstallationID, as authorization: Authorization, within deadline: Deadline
    ) async throws(RichPushError) -> InstallationAnswer {
        try await client.value(
            InstallationAnswer.self, of: try .json("PUT", APIRoute.installation(installation), update), as: authorization,
            within: deadline)
    }

    private func isDue(_ update: InstallationUpdate, in session: Session) -> Bool {
        guard let state = acknowledged(in: session) else { return true }
        return state.isDue(
            RegistrationState.digest(of: update), now: device.clock.now, heartbeat: configuration.limits.heartbeat)
    }

    func acknowledge(
        _ update: InstallationUpdate, _ answer: InstallationAnswer, in session: Session
    ) throws(StorageError) {
        let state = RegistrationState(
            digest: RegistrationState.digest(of: update), acknowledgedAt: device.clock.now, environments: answer.environments,
            tags: update.tags)
        try records.write(state, registrationKey(of: session))
    }

    /// The server is about to get something else, so the registration is due again. The tags that it accepted stay known.
    func forgetAcknowledgement(in session: Session) throws(StorageError) {
        guard var state = acknowledged(in: session) else { return }
        state.digest = ""
        try records.write(state, registrationKey(of: session))
    }

    // MARK: The tags that the user chose, by which an audience may name this installation

    /// As many as the server accepts for one installation, besides the tag of its user.
    private static var tagLimit: Int { 59 }

    private func tagsKey(of session: Session) -> RecordKey { RecordKey(.state, "tags", of: session.id) }

    /// The tags of this installation; none when no user is signed in.
    public var currentTags: [Tag] {
        guard let session else { return [] }
        return (try? records.read([Tag].self, tagsKey(of: session))) ?? []
    }

    /// Replaces the tags. They are stored here first; a server that cannot be reached now gets them as soon as it can.
    ///
    /// Throws `badTag`, and `refused` when the server refuses them (`username:` and other protected ones): then the tags are unchanged.
    /// A server that could not be reached at first may refuse them later: then they become those that it last accepted, else none, and
    /// the event `tagsRefused` reports it.
    public func setTags(_ tags: [String]) async throws(RichPushError) {
        let checked = tags.compactMap { Tag($0) }
        guard checked.count == tags.count, checked.count <= Self.tagLimit else { throw .badTag }
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        let before = currentTags
        try storing { () throws(StorageError) in try records.write(checked, tagsKey(of: session)) }
        do throws(RichPushError) {
            try await sendTags(in: session)
        } catch {
            if error.isTransient { return startRegistration() }
            guard isCurrent(session) else { throw .notSignedIn }
            try storing { () throws(StorageError) in try records.write(before, tagsKey(of: session)) }
            throw error
        }
    }

    private func sendTags(in session: Session) async throws(RichPushError) {
        let update = await installationUpdate()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let answer = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
            try await self.put(update, installation: session.installation, as: authorization, within: deadline)
        }
        guard isCurrent(session) else { throw .notSignedIn }
        try storing { () throws(StorageError) in try acknowledge(update, answer, in: session) }
    }

    /// Registers this installation at the server. A refusal may be due to tags, because the protected ones can change. So it is retried
    /// with the tags that were last accepted, and then without any: tags must not keep a new device token from the server. Returns what
    /// the server accepted.
    func register(
        _ update: InstallationUpdate, in session: Session,
        by put: (InstallationUpdate) async throws(RichPushError) -> InstallationAnswer
    ) async throws(RichPushError) -> (InstallationUpdate, InstallationAnswer) {
        do {
            return (update, try await put(update))
        } catch .refused(let problem) {
            for tags in fallbacks(of: update, in: session) {
                var other = update
                other.tags = tags
                guard let answer = try await taken(other, by: put) else { continue }
                guard isCurrent(session) else { throw .notSignedIn }
                try giveUp(update.tags, for: tags, because: problem, in: session)
                return (other, answer)
            }
            // The tags were not the reason: they stay.
            throw .refused(problem)
        } catch {
            throw error
        }
    }

    private func fallbacks(of update: InstallationUpdate, in session: Session) -> [[Tag]] {
        guard !update.tags.isEmpty else { return [] }
        let before = acknowledged(in: session)?.tags ?? []
        return before.isEmpty || before == update.tags ? [[]] : [before, []]
    }

    private func taken(
        _ update: InstallationUpdate, by put: (InstallationUpdate) async throws(RichPushError) -> InstallationAnswer
    ) async throws(RichPushError) -> InstallationAnswer? {
        do {
            return try await put(update)
        } catch .refused {
            return nil
        } catch {
            throw error
        }
    }

    /// Does nothing if the user chose other tags while the server answered.
    private func giveUp(
        _ refused: [Tag], for tags: [Tag], because problem: Problem, in session: Session
    ) throws(RichPushError) {
        guard currentTags == refused else { return }
        try storing { () throws(StorageError) in try records.write(tags, tagsKey(of: session)) }
        device.log.record(DeviceEvent(.tagsRefused, nil, ["reason": problem.code, "kept": "\(tags.count)"]))
    }

    // MARK: End-to-end encrypted notifications: the key of this installation, and sealed notifications that came without a push

    /// How many sealed notifications one refresh of the inbox opens; the others open when they are tapped.
    private static var openingLimit: Int { 20 }

    /// The fingerprint of this device's public key, to be compared with what a sender sees: 8 groups of 4 hexadecimal digits. Absent
    /// when no user is signed in or the app opens nothing sealed.
    public var sealingFingerprint: String? {
        guard session != nil, configuration.opensSealedContent,
            let text = (try? device.secrets.secret(.sealingKey)) ?? nil
        else { return nil }
        return try? SealingPrivateKey(secretText: text).publicKey.fingerprint
    }

    /// The public key, made on first use after each sign-in, and again when it was lost. Content sealed for a lost key does not open
    /// any more.
    func sealingKey() -> String? {
        guard configuration.opensSealedContent, session != nil || isChangingSession, !Task.isCancelled else { return nil }
        do throws(StorageError) {
            if let text = try device.secrets.secret(.sealingKey), let key = try? SealingPrivateKey(secretText: text) {
                return key.publicKey.text
            }
            let key = SealingPrivateKey()
            try device.secrets.setSecret(key.secretText, for: .sealingKey)
            return key.publicKey.text
        } catch {
            device.log.record(DeviceEvent(.storageFailed, nil, ["reason": "\(error)"]))
            return nil
        }
    }

    /// Opens what the inbox lists and no push has brought, the newest first. One that does not open keeps its neutral text.
    func openSealed(_ entries: [InboxEntry], in session: Session, within deadline: Deadline) async {
        let closed = entries.filter { entry in
            entry.kind == .sealed && ((try? records.text(entry.id, of: session.id)) ?? nil) == nil
        }
        for entry in closed.prefix(Self.openingLimit) {
            guard isCurrent(session), deadline.remaining > .zero else { return }
            do throws(RichPushError) {
                _ = try await authorized(in: session, within: deadline) { authorization throws(RichPushError) in
                    try await self.fetcher.opened(entry, in: session, as: authorization, within: deadline)
                }
            } catch {
                device.log.record(DeviceEvent(.fetchFailed, entry.id, ["reason": error.code]))
                if error.isTransient { return }
            }
        }
    }
}

extension RichPushError {
    /// The pause that a server asked for.
    var pause: Duration? {
        if case .serverBusy(let pause) = self { pause } else { nil }
    }
}

/// What the server last acknowledged of this installation.
struct RegistrationState: Hashable, Sendable, Codable {
    var digest: String
    var acknowledgedAt: Timestamp
    /// As the server answered.
    var environments: [String]?
    /// The tags that it accepted; absent in records of an older version.
    var tags: [Tag]?

    /// A hash of everything that the server should know.
    static func digest(of update: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = (try? encoder.encode(update)) ?? Data()
        return DigestText.digest(String(decoding: data, as: UTF8.self))
    }

    /// Whether the server must get `digest`: it changed, the last report is a heartbeat old, or the clock was set back.
    func isDue(_ digest: String, now: Timestamp, heartbeat: Duration) -> Bool {
        self.digest != digest || now - acknowledgedAt >= heartbeat || now < acknowledgedAt
    }
}

/// When to try again: doubling pauses with jitter, up to a number of attempts. A value without a clock.
struct RetrySchedule: Hashable, Sendable {
    var first: Duration = .seconds(2)
    var longest: Duration = .seconds(300)
    var attempts = 8
    private(set) var failures = 0

    /// The pause after another failure, or `nil` when the attempts are used up until the next occasion. `fraction` (0 to 1) takes away
    /// up to half, so that phones that failed together do not retry together; the pause is never below `asked`.
    mutating func next(fraction: Double, asked: Duration? = nil) -> Duration? {
        failures += 1
        guard failures < attempts else { return nil }
        let doubled = min(longest, first * (1 << min(failures - 1, 16)))
        return max(doubled * (1 - fraction / 2), asked ?? .zero)
    }
}
