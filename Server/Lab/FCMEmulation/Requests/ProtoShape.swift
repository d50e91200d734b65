/// What a field of a message holds, as the API describes it in protocol buffers (Reference/FCM.md#2-2).
indirect enum ProtoShape: Sendable {
    case text
    /// A text that a rule says more about.
    case checked(FCMRule, @Sendable (String) -> Bool)
    case flag
    case int32
    /// A number from 0 to 1.
    case fraction
    /// A duration; a bound is in seconds.
    case duration(atMost: Int64?)
    case moment
    case list(ProtoShape)
    /// Texts by texts, each judged by its name and its value.
    case map(@Sendable (_ name: String, _ value: String) -> FCMRule?)
    /// Any object.
    case free
    /// A word of a list, in the order of their numbers.
    case choice(type: String, [String])
    case object(ProtoMessage)

    /// Texts by texts, of which some names are reserved.
    static let data = ProtoShape.map { name, _ in
        if name == "from" || name == "message_type" { return .dataKeyReserved }
        return name.hasPrefix("google") || name.hasPrefix("gcm") ? .dataKeyPrefix : nil
    }

    /// As Google's sentences name the type.
    var typeName: String {
        switch self {
        case .text, .checked: "TYPE_STRING"
        case .flag: "TYPE_BOOL"
        case .int32: "TYPE_INT32"
        case .fraction: "TYPE_FLOAT"
        case .duration: "type.googleapis.com/google.protobuf.Duration"
        case .moment: "type.googleapis.com/google.protobuf.Timestamp"
        case .list(let shape): shape.typeName
        case .map: "Map"
        case .free: "type.googleapis.com/google.protobuf.Struct"
        case .choice(let type, _): "type.googleapis.com/google.firebase.fcm.v1.\(type)"
        case .object: "type.googleapis.com/google.firebase.fcm.v1.Message"
        }
    }

    /// The rule that a value of another type breaks.
    var rule: FCMRule { if case .choice = self { .enumValue } else { .fieldType } }
}

/// A message of protocol buffers: its fields by both of their names.
struct ProtoMessage: Sendable {
    /// Fields of which a message has one at most, and fields that have to be there.
    let oneOf, required: Set<String>
    /// By the name of the API and by the name in camel case: the name of the API and the shape.
    private(set) var fields: [String: (name: String, shape: ProtoShape)] = [:]

    init(_ shapes: [String: ProtoShape], oneOf: Set<String> = [], required: Set<String> = []) {
        (self.oneOf, self.required) = (oneOf, required)
        for (name, shape) in shapes {
            for spelling in [name, Self.camelCase(name)] { fields[spelling] = (name, shape) }
        }
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}

extension ProtoMessage {
    /// The body of a send.
    static let sendRequest = ProtoMessage(["validate_only": .flag, "message": .object(message)])

    private static let message = ProtoMessage(
        [
            "name": .text, "data": .data, "notification": .object(notification), "android": .object(android),
            "android_v2": .object(newAndroid), "webpush": .object(webPush), "apns": .object(apns),
            "fcm_options": .object(options), "token": .checked(.tokenShape, ValueForm.isToken),
            "fid": .checked(.fidShape, ValueForm.isInstallationID), "topic": .text, "condition": .text,
        ], oneOf: ["token", "fid", "topic", "condition"])

    private static let image = ProtoShape.checked(.imageURL, ValueForm.isHTTPS)
    private static let label = ProtoShape.checked(.analyticsLabel, ValueForm.isLabel)
    private static let options = ProtoMessage(["analytics_label": label])
    private static let notification = ProtoMessage(["title": .text, "body": .text, "image": image])

    /// What both forms for Android have.
    private static let sharedAndroid: [String: ProtoShape] = [
        "collapse_key": .text, "ttl": .duration(atMost: 2_419_200), "restricted_package_name": .text, "data": .data,
        "fcm_options": .object(options), "direct_boot_ok": .flag, "bandwidth_constrained_ok": .flag,
        "restricted_satellite_ok": .flag,
    ]

    private static let android = ProtoMessage(
        sharedAndroid.merging([
            "priority": .choice(type: "AndroidConfig.AndroidMessagePriority", ["NORMAL", "HIGH"]),
            "notification": .object(androidNotification),
        ]) { $1 })

    /// A newer form, of which the inner parts are not judged.
    private static let newAndroid = ProtoMessage(
        sharedAndroid.merging(["remote_notification": .free, "background_sync": .free]) { $1 })

    private static let androidNotification = ProtoMessage([
        "title": .text, "body": .text, "icon": .text, "color": .checked(.color, ValueForm.isColor), "sound": .text, "tag": .text,
        "click_action": .text, "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text,
        "title_loc_args": .list(.text),
        "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .moment, "local_only": .flag,
        "notification_priority": .choice(
            type: "AndroidNotification.NotificationPriority",
            ["PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"]),
        "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag,
        "vibrate_timings": .list(.duration(atMost: nil)),
        "visibility": .choice(
            type: "AndroidNotification.Visibility", ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .int32, "light_settings": .object(lightSettings), "image": image,
        "bypass_proxy_notification": .flag,
        "proxy": .choice(type: "AndroidNotification.Proxy", ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ])

    private static let lightSettings = ProtoMessage(
        [
            "color": .object(ProtoMessage(["red": .fraction, "green": .fraction, "blue": .fraction, "alpha": .fraction])),
            "light_on_duration": .duration(atMost: nil), "light_off_duration": .duration(atMost: nil),
        ], required: ["color", "light_on_duration", "light_off_duration"])

    private static let webPush = ProtoMessage([
        "headers": .map(ValueForm.brokenWebHeader), "data": .data, "notification": .free,
        "fcm_options": .object(ProtoMessage(["link": .checked(.webLink, ValueForm.isHTTPS), "analytics_label": label])),
    ])

    private static let apns = ProtoMessage([
        "headers": .map(ValueForm.brokenAPNsHeader), "payload": .free,
        "fcm_options": .object(ProtoMessage(["analytics_label": label, "image": image])), "live_activity_token": .text,
    ])
}
