import RichPushModel

extension RichPushEngine {
    /// The system gave a device token: hexadecimal text of any length, never used as an identity (Reference/IOSClient.md#7).
    public func didRegister(token: String) {
        self.token = token.uppercased()
        startRegistration()
    }

    /// The system gave no token. The next launch or `refresh` asks again.
    public func didFailToRegister(reason: String) {
        device.log.record(DeviceEvent(.registrationFailed, nil, ["reason": reason]))
    }

    /// Tells the server of this installation if it should hear something new. Calls that come meanwhile are part of it.
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
                let (taken, answer) = try await tell(update, in: session) { update throws(RichPushError) in
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

    /// All that the server should know of this installation now.
    func installationUpdate() async -> InstallationUpdate {
        let facts = await app.environment.installationFacts()
        let permission = await app.notifications.permission()
        return InstallationUpdate(
            handle: token, tags: currentTags, environment: facts.environment, topic: facts.bundleID,
            locale: Self.fact(facts.locale), sealingKey: sealingKey(), appVersion: Self.fact(facts.appVersion),
            systemVersion: Self.fact(facts.systemVersion), timeZone: Self.fact(facts.timeZone), permission: permission.rawValue,
            capabilities: capabilities(facts))
    }

    /// A text as a server takes it: what a build says of itself must never keep anybody from signing in.
    private static func fact(_ text: String?) -> String? {
        let plain = (text ?? "").unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }
        let short = String(String.UnicodeScalarView(plain.prefix(64)))
        return short.isEmpty ? nil : short
    }

    /// In one order, so that the same capabilities are no news.
    private func capabilities(_ facts: InstallationFacts) -> [String] {
        let configured = [
            ("background-refresh", configuration.refreshTask != nil && app.scheduling != nil),
            ("replies", configuration.offersReply), ("sealed-content", configuration.opensSealedContent),
        ]
        return Set(facts.capabilities + configured.filter(\.1).map(\.0)).sorted()
    }

    /// For which of Apple's environments the server has a credential, as it said last; `nil` when it has not said.
    public var serverEnvironments: [String]? {
        session.flatMap { acknowledged(in: $0)?.environments }
    }

    /// What the server took last of this session's installation.
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
}

extension RichPushError {
    /// The pause that a server asked for.
    var pause: Duration? {
        if case .serverBusy(let pause) = self { pause } else { nil }
    }
}
