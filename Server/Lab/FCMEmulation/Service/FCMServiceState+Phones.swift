import Crypto
import RichPushModel
import WireText

extension FCMServiceState {
    /// Installs an app on a device, which then has a registration token. A device that is there stays as it is.
    mutating func addDevice(
        _ name: String, project: String, package: String, platform: DevicePlatform
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
        installApp(on: name, isAnnounced: false)
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

    /// 22 characters, of which the first has four fixed bits.
    private mutating func installApp(on name: String, isAnnounced: Bool = true) {
        if let old = devices[name]?.fid { fids[old] = nil }
        var bytes = random.bytes(17)
        bytes[0] = bytes[0] & 0x0F | 0x70
        let fid = String(Base64URL.text(of: bytes).prefix(22))
        devices[name]?.fid = fid
        fids[fid] = name
        giveToken(to: name, isAnnounced: isAnnounced)
    }

    /// The token before it is dead from now on (Reference/FCM.md#3).
    private mutating func giveToken(to name: String, isAnnounced: Bool = true) {
        guard let device = devices[name] else { return }
        if let old = device.token { tokens[old] = nil }
        let nonce = random.bytes(64)
        let token = "\(device.fid):APA91b\(Base64URL.text(of: nonce + mark(device.fid, nonce)))"
        devices[name]?.token = token
        tokens[token] = name
        if isAnnounced { apply(DeviceOutcome(events: [.newToken(token)]), to: name) }
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
    mutating func act(_ action: AndroidAction, on name: String) throws(LocalFCMError) {
        guard let device = devices[name] else { throw .unknown("device \(name)") }
        let wasExpired = device.isExpired(at: now, days: quotas.inactiveDays)
        let isInstalled = device.token != nil
        switch action {
        case .uninstall:
            if let token = device.token { tokens[token] = nil }
            for topic in device.topics { followers[.init(project: device.project, topic: topic)]?.remove(name) }
        case .renewToken where isInstalled: giveToken(to: name)
        case .install where !isInstalled: installApp(on: name)
        case .renewToken, .install: throw .notPossible("the app is\(isInstalled ? "" : " not") installed on \(name)")
        default: break
        }
        change(name) { $0.act(action, $1, $2) }
        // The token that died in the meantime is replaced at the first contact.
        if wasExpired, isInstalled, devices[name]?.isOnline == true { giveToken(to: name) }
        keptRevision += 1
    }

    /// The user taps a notification. Returns whether it was there.
    mutating func tap(_ messageID: String, on name: String) -> Bool {
        let isThere = change(name) { $0.tap(messageID, $1, $2) } ?? false
        if isThere { keptRevision += 1 }
        return isThere
    }

    /// What a device is now; `nil` for one that is not there. What has expired does not wait any more.
    mutating func status(of name: String) -> AndroidStatus? {
        change(name) { device, quotas, now in
            device.expire(at: now)
            return device.status(name, quotas)
        }
    }

    /// Lets a device decide something, and passes on what it has decided.
    @discardableResult
    mutating func change<Result>(
        _ name: String, _ body: (inout AndroidDevice, LocalFCMQuotas, Timestamp) -> Result
    ) -> Result? {
        guard var device = devices.removeValue(forKey: name) else { return nil }
        let result = body(&device, quotas, now)
        let outcome = device.outcome
        device.outcome = DeviceOutcome()
        devices[name] = device
        apply(outcome, to: name)
        return result
    }

    private mutating func apply(_ outcome: DeviceOutcome, to name: String) {
        for event in outcome.events {
            let record = PhoneRecord(device: name, at: now, event: event)
            events.append(record)
            recorder.phoneList.append(record)
        }
        for (id, state) in outcome.states {
            let delivery = FCMDeliveryRecord(messageID: id, device: name, state: state, at: now)
            recorder.deliveryList.append(delivery)
            news.append(.delivery(delivery))
            // One that is delivered at once leaves nothing to keep.
            if outcome.states.count > 1 || state != .delivered { keptRevision += 1 }
        }
    }
}
