import Crypto
import RichPushModel
import WireText

extension FCMServiceState {
    /// Installs an app on a device, which then has a registration token. A device that is there stays as it is.
    mutating func addDevice(
        _ name: String, project: String, package: String, platform: DevicePlatform, now: Timestamp
    ) throws(LocalFCMError) {
        if let known = devices[name] {
            guard known.project == project, known.package == package, known.platform == platform else {
                throw .notPossible("device \(name) has another app")
            }
            return
        }
        guard projects[project] != nil else { throw .unknown("project \(project)") }
        guard (1...100).contains(name.utf8.count), (1...200).contains(package.utf8.count) else {
            throw .notPossible("a device has a name of 1 to 100 bytes, and an app one of 1 to 200")
        }
        guard devices.count < bounds.devices else { throw .notPossible("there are \(devices.count) devices") }
        devices[name] = AndroidDevice(project: project, package: package, platform: platform, fid: "", lastSeen: now)
        installApp(on: name)
        keptRevision += 1
    }

    /// Without sorting all of them: there may be a million.
    func deviceNames(containing text: String, limit: Int) -> (first: [String], count: Int) {
        var (first, count): ([String], Int) = ([], 0)
        for name in devices.keys where text.isEmpty || name.contains(text) {
            count += 1
            if first.count >= limit, name >= first.last ?? "" { continue }
            first.insert(name, at: first.firstIndex { $0 > name } ?? first.endIndex)
            if first.count > limit { first.removeLast() }
        }
        return (first, count)
    }

    private mutating func installApp(on name: String) {
        if let old = devices[name]?.fid { fids[old] = nil }
        let fid = newInstallationID()
        devices[name]?.fid = fid
        fids[fid] = name
        giveToken(to: name)
    }

    /// The token before it is dead from now on (Reference/FCM.md#3).
    private mutating func giveToken(to name: String) {
        guard let device = devices[name] else { return }
        if let old = device.token { tokens[old] = nil }
        let token = newRegistrationToken(fid: device.fid)
        devices[name]?.token = token
        tokens[token] = name
    }

    /// 22 characters, of which the first has four fixed bits.
    private mutating func newInstallationID() -> String {
        var bytes = randomBytes(17)
        bytes[0] = bytes[0] & 0x0F | 0x70
        return String(Base64URL.text(of: bytes).prefix(22))
    }

    private mutating func newRegistrationToken(fid: String) -> String {
        let nonce = randomBytes(64)
        return "\(fid):APA91b\(Base64URL.text(of: nonce + mark(fid, nonce)))"
    }

    private func mark(_ fid: some StringProtocol, _ nonce: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(fid.utf8) + nonce, using: tokenKey))
    }

    /// Whether a registration token was made here, living or dead.
    func wasIssued(_ token: String) -> Bool {
        let parts = token.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[1].hasPrefix("APA91b"), let bytes = Base64URL.bytes(of: parts[1].dropFirst(6)),
            bytes.count == 96
        else { return false }
        return mark(parts[0], Array(bytes[..<64])) == Array(bytes[64...])
    }

    /// Something happens to a phone.
    mutating func act(_ action: AndroidAction, on name: String, now: Timestamp) throws(LocalFCMError) {
        guard let device = devices[name] else { throw .unknown("device \(name)") }
        let wasExpired = device.isExpired(at: now, days: quotas.inactiveDays)
        if action == .uninstall {
            if let token = device.token { tokens[token] = nil }
            for topic in device.topics { followers[.init(project: device.project, topic: topic)]?.remove(name) }
        }
        let isInstalled = device.token != nil
        switch action {
        case .renewToken where isInstalled: renewToken(of: name, now: now)
        case .install where !isInstalled:
            installApp(on: name)
            announceToken(of: name, now: now)
        case .renewToken, .install: throw .notPossible("the app is\(isInstalled ? "" : " not") installed on \(name)")
        default: break
        }
        if let outcome = devices[name]?.act(action, quotas: quotas, now: now) { apply(outcome, to: name, now: now) }
        // The token that died in the meantime is replaced at the first contact.
        if wasExpired, isInstalled, devices[name]?.isOnline == true { renewToken(of: name, now: now) }
        keptRevision += 1
    }

    private mutating func renewToken(of name: String, now: Timestamp) {
        giveToken(to: name)
        announceToken(of: name, now: now)
    }

    private mutating func announceToken(of name: String, now: Timestamp) {
        guard let token = devices[name]?.token else { return }
        apply(DeviceOutcome(events: [.newToken(token)]), to: name, now: now)
    }

    /// The user taps a notification. Returns whether it was there.
    mutating func tap(_ messageID: String, on name: String, now: Timestamp) -> Bool {
        guard let outcome = devices[name]?.tap(messageID, quotas: quotas, now: now) else { return false }
        apply(outcome, to: name, now: now)
        keptRevision += 1
        return true
    }

    /// Drops what has expired, so that a look at a device shows what waits.
    mutating func expire(_ name: String, now: Timestamp) {
        var outcome = DeviceOutcome()
        devices[name]?.expire(at: now, &outcome)
        apply(outcome, to: name, now: now)
    }

    mutating func apply(_ outcome: DeviceOutcome, to name: String, now: Timestamp) {
        for event in outcome.events {
            let record = PhoneRecord(device: name, at: now, event: event)
            events.append(record)
            recorder.record(record)
        }
        for (id, state) in outcome.states {
            let delivery = FCMDeliveryRecord(messageID: id, device: name, state: state, at: now)
            recorder.record(delivery)
            news.append(.delivery(delivery))
            // One that is delivered at once leaves nothing to keep.
            if outcome.states.count > 1 || state != .delivered { keptRevision += 1 }
        }
    }

    /// Hands a message to a device.
    mutating func deliver(_ message: DeviceMessage, to name: String, now: Timestamp) {
        guard let outcome = devices[name]?.take(message, quotas: quotas, now: now) else { return }
        apply(outcome, to: name, now: now)
    }
}
