import WireText

extension FCMMessage {
    /// Translates a body of the retired interface, which clients of a hub send in the format `gcm` (Reference/FCM.md#9-2).
    ///
    /// - Throws: which member is wrong, or has no counterpart. A rule of the present interface comes without a place in the text.
    public init(legacy body: [UInt8]) throws(FCMMessageFault) {
        var message = FCMLegacyMessage()
        try message.read(body)
        do throws(FCMMessageFault) {
            try self.init(Array(message.translated.utf8))
        } catch {
            var fault = error
            fault.byte = nil
            throw fault
        }
    }
}

/// The members of a body of the retired interface by their places in the present one, each as raw JSON.
private struct FCMLegacyMessage {
    private typealias Members = [(name: String, value: String?)]

    /// Texts of a notification that only Android's part has now, with their present names.
    private static let androidTexts = [
        "icon": "icon", "sound": "sound", "tag": "tag", "color": "color", "click_action": "click_action", "ticker": "ticker",
        "body_loc_key": "body_loc_key", "title_loc_key": "title_loc_key", "android_channel_id": "channel_id",
    ]

    private static let noCounterpart = "has no counterpart in FCM HTTP v1 for Android"

    private var data: Members = []
    private var notification: Members = []
    private var android: Members = []
    private var androidNotification: Members = []
    private var validates: String?

    /// The same for the present interface.
    var translated: String {
        var android = android
        if !androidNotification.isEmpty { android.append(("notification", JSONText.object(androidNotification))) }
        func part(_ members: Members) -> String? { members.isEmpty ? nil : JSONText.object(members) }
        let message: Members = [("data", part(data)), ("notification", part(notification)), ("android", part(android))]
        return JSONText.object([("validate_only", validates), ("message", JSONText.object(message))])
    }

    mutating func read(_ body: [UInt8]) throws(FCMMessageFault) {
        var reader = try FCMBodyReader(body)
        try reader.whole { reader, name throws(FCMMessageFault) in try read(name, &reader) }
    }

    private mutating func read(_ name: String, _ reader: inout FCMBodyReader) throws(FCMMessageFault) {
        switch name {
        case "to", "registration_ids", "condition", "notification_key": throw reader.fault(FCMBodyReader.target, name)
        case "data": data = try Self.pairs(&reader)
        case "notification": try readNotification(&reader)
        case "collapse_key", "restricted_package_name": android.append((name, JSONText.string(try reader.text(name))))
        case "direct_boot_ok": android.append((name, try reader.check(.boolean, "true or false", name)))
        case "dry_run": validates = try reader.check(.boolean, "true or false", name)
        case "priority":
            let word = try reader.text(name).uppercased()
            guard ["HIGH", "NORMAL"].contains(word) else { throw reader.fault("is not high or normal", name) }
            android.append((name, JSONText.string(word)))
        case "time_to_live":
            let seconds = Int64(try reader.check(.number, "a whole number of seconds", name))
            guard let seconds, (0...FCMMessage.longestLife).contains(seconds) else {
                throw reader.fault("is not a whole number of seconds, at most \(FCMMessage.longestLife)", name)
            }
            android.append(("ttl", "\"\(seconds)s\""))
        // Google has ignored it for years.
        case "delay_while_idle": try reader.skip()
        default: throw reader.fault(Self.noCounterpart, name)
        }
    }

    /// The retired interface made texts of numbers and of `true` and `false`.
    private static func pairs(_ reader: inout FCMBodyReader) throws(FCMMessageFault) -> Members {
        var pairs: Members = []
        try reader.members(of: "data") { reader, name throws(FCMMessageFault) in
            let (path, kind) = ("data.\(name)", reader.cursor.kind)
            let isPlain = kind == .number || kind == .boolean
            let text = isPlain ? try reader.check(kind, "", path) : try reader.text(path)
            pairs.append((name, JSONText.string(text)))
        }
        return pairs
    }

    private mutating func readNotification(_ reader: inout FCMBodyReader) throws(FCMMessageFault) {
        try reader.members(of: "notification") { reader, name throws(FCMMessageFault) in
            let path = "notification.\(name)"
            switch name {
            case "title", "body", "image": notification.append((name, JSONText.string(try reader.text(path))))
            case "body_loc_args", "title_loc_args":
                androidNotification.append((name, try reader.check(.list, "a list of texts", path)))
            default:
                guard let present = Self.androidTexts[name] else { throw reader.fault(Self.noCounterpart, path) }
                androidNotification.append((present, JSONText.string(try reader.text(path))))
            }
        }
    }
}
