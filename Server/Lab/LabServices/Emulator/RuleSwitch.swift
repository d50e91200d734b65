import APNsEmulation
import APNsProtocol
import RichPushModel
import ServiceErrors

/// One rule of the local APNs as its administration shows and sets it.
struct RuleSwitch: Sendable {
    typealias Path<Value> = WritableKeyPath<EmulationRules, Value> & Sendable

    /// The name of the property.
    let name: String
    let read: @Sendable (EmulationRules) -> RuleValue
    /// Returns whether the value has the form of this rule.
    private let write: @Sendable (inout EmulationRules, RuleValue) -> Bool
    private let form: String

    /// Sets the rule. Throws `invalid-field` for a value of another form.
    func set(_ value: RuleValue, in rules: inout EmulationRules) throws {
        guard write(&rules, value) else { throw ServiceError(.invalidField, "rule '\(name)': expected \(form)") }
    }

    /// A rule of one property. `parse` returns `nil` for a value of another form.
    private static func rule<Value>(
        _ name: String, _ path: any Path<Value>, form: String, show: @escaping @Sendable (Value) -> RuleValue,
        parse: @escaping @Sendable (RuleValue) -> Value?
    ) -> RuleSwitch {
        RuleSwitch(
            name: name, read: { show($0[keyPath: path]) },
            write: { rules, value in
                guard let value = parse(value) else { return false }
                rules[keyPath: path] = value
                return true
            }, form: form)
    }

    /// A rule that null switches off.
    private static func optional<Value>(
        _ name: String, _ path: any Path<Value?>, form: String, show: @escaping @Sendable (Value) -> RuleValue,
        parse: @escaping @Sendable (RuleValue) -> Value?
    ) -> RuleSwitch {
        rule(name, path, form: form + ", or null", show: { $0.map(show) ?? RuleValue.none }) { value in
            value == .none ? .some(nil) : parse(value).map(Optional.some)
        }
    }

    private static func flag(_ name: String, _ path: any Path<Bool>) -> RuleSwitch {
        rule(name, path, form: "true or false", show: RuleValue.flag) { value in
            guard case .flag(let flag) = value else { return nil }
            return flag
        }
    }

    private static func number(_ name: String, _ path: any Path<Int>, _ range: ClosedRange<Int>) -> RuleSwitch {
        rule(name, path, form: "a number from \(range.lowerBound) to \(range.upperBound)", show: RuleValue.number) {
            $0.integer(in: range)
        }
    }

    private static func seconds(_ name: String, _ path: any Path<Int64>) -> RuleSwitch {
        rule(name, path, form: "seconds from 0 to 1000000000", show: { .number(Int($0)) }) {
            $0.integer(in: 0...1_000_000_000).map(Int64.init)
        }
    }

    private static func optionalNumber(_ name: String, _ path: any Path<Int?>) -> RuleSwitch {
        optional(name, path, form: "a number from 0 to 1000000000", show: RuleValue.number) { $0.integer(in: 0...1_000_000_000) }
    }

    private static let millisecondsForm = "milliseconds from 0 to 86400000"

    private static func duration(_ name: String, _ path: any Path<Duration>) -> RuleSwitch {
        rule(name, path, form: millisecondsForm, show: RuleValue.time) { $0.milliseconds }
    }

    private static func optionalDuration(_ name: String, _ path: any Path<Duration?>) -> RuleSwitch {
        optional(name, path, form: millisecondsForm, show: RuleValue.time) { $0.milliseconds }
    }

    private static func reason(
        _ name: String, _ path: any Path<APNsReason>, among allowed: Set<APNsReason> = APNsReason.documented
    ) -> RuleSwitch {
        let form = allowed.count < 5 ? allowed.map(\.rawValue).sorted().joined(separator: " or ") : "a reason of Apple's table"
        return rule(name, path, form: form, show: { .text($0.rawValue) }) { value in
            guard case .text(let text) = value, allowed.contains(APNsReason(rawValue: text)) else { return nil }
            return APNsReason(rawValue: text)
        }
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ path: any Path<Choice>
    ) -> RuleSwitch {
        let form = Choice.allCases.map(\.rawValue).joined(separator: " or ")
        return rule(name, path, form: form, show: { .text($0.rawValue) }) { value in
            guard case .text(let text) = value else { return nil }
            return Choice(rawValue: text)
        }
    }

    private static func rate(_ name: String, _ path: any Path<EmulationRules.DeviceRate?>) -> RuleSwitch {
        optional(
            name, path, form: #"{"count":…,"seconds":…}"#, show: { .rate(count: $0.count, seconds: $0.seconds) }
        ) { value in
            guard case .rate(let count, let seconds) = value, count > 0, seconds > 0 else { return nil }
            return .init(count: count, seconds: seconds)
        }
    }

    /// Every rule. A test compares them with the properties of `EmulationRules`.
    static let all: [RuleSwitch] = streams + credentials + requests + connections

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    private static let streams: [RuleSwitch] = [
        .number("firstConcurrentStreams", \.firstConcurrentStreams, 0...1_000_000),
        .number("concurrentStreams", \.concurrentStreams, 0...1_000_000),
        .flag("raisesLimitForCertificates", \.raisesLimitForCertificates),
        .flag("lowersLimitAfterRejection", \.lowersLimitAfterRejection),
        .choice("limitEnforcement", \.limitEnforcement),
        .choice("overLimit", \.overLimit),
        .flag("resetsRefusedStreamsTwice", \.resetsRefusedStreamsTwice),
        .number("initialWindowSize", \.initialWindowSize, 0...65_535),
        .number("headerTableSize", \.headerTableSize, 0...65_536),
        .choice("credit", \.credit),
        .duration("creditDelay", \.creditDelay),
    ]

    private static let credentials: [RuleSwitch] = [
        .seconds("providerTokenLifetime", \.providerTokenLifetime),
        .seconds("providerTokenLead", \.providerTokenLead),
        .reason("futureTokenReason", \.futureTokenReason),
        .seconds("providerTokenInterval", \.providerTokenInterval),
        .reason("environmentKeyReason", \.environmentKeyReason),
        .flag("bindsAppsToConnection", \.bindsAppsToConnection),
        .flag("wedgesAfterTokenError", \.wedgesAfterTokenError),
        .choice("expiredCertificate", \.expiredCertificate),
        .choice("certificateEnvironment", \.certificateEnvironment),
        .reason("certificateTopicReason", \.certificateTopicReason, among: [.badTopic, .topicDisallowed]),
    ]

    private static let requests: [RuleSwitch] = [
        .choice("backgroundAtPriorityTen", \.backgroundAtPriorityTen),
        .reason("backgroundPriorityReason", \.backgroundPriorityReason),
        .choice("missingPushType", \.missingPushType),
        .choice("bodyThatIsNotJSON", \.bodyThatIsNotJSON),
        .rate("deviceRate", \.deviceRate),
        .rate("appRate", \.appRate),
        .optionalNumber("retryAfter", \.retryAfter),
        .number("channelsPerApp", \.channelsPerApp, 0...1_000_000),
        .flag("storedBroadcastReachesNewSubscriber", \.storedBroadcastReachesNewSubscriber),
    ]

    private static let connections: [RuleSwitch] = [
        .duration("answerDelay", \.answerDelay),
        .flag("answersBeforeBody", \.answersBeforeBody),
        .number("answerPieces", \.answerPieces, 1...1_000),
        .optionalNumber("errorBudget", \.errorBudget),
        .number("badDeviceTokenWeight", \.badDeviceTokenWeight, 1...1_000),
        .optionalDuration("idleLimit", \.idleLimit),
        .number("maximumConnections", \.maximumConnections, 0...100_000),
        .rate("connectRate", \.connectRate),
        .duration("connectDelay", \.connectDelay),
        .duration("goAwayGrace", \.goAwayGrace),
    ]
}

/// What a rule of the local APNs is set to, in JSON: true or false, a number, a text, `{"count":…,"seconds":…}`, or null.
enum RuleValue: Codable, Hashable, Sendable {
    case flag(Bool)
    case number(Int)
    case text(String)
    case rate(count: Int, seconds: Int)
    case none

    /// The number, if it lies in the range.
    fileprivate func integer(in range: ClosedRange<Int>) -> Int? {
        guard case .number(let number) = self, range.contains(number) else { return nil }
        return number
    }

    /// As a time of at most a day.
    fileprivate var milliseconds: Duration? { integer(in: 0...86_400_000).map { .milliseconds($0) } }

    fileprivate static func time(_ time: Duration) -> RuleValue { .number(Int(time.wholeMilliseconds)) }

    private enum Key: CodingKey {
        case count, seconds
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let rate = try? value.decode([String: Int].self) {
            guard let count = rate["count"], let seconds = rate["seconds"], rate.count == 2 else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "expected count and seconds")
            }
            self = .rate(count: count, seconds: seconds)
            return
        }
        if value.decodeNil() {
            self = .none
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        if case .rate(let count, let seconds) = self {
            var rate = encoder.container(keyedBy: Key.self)
            try rate.encode(count, forKey: .count)
            try rate.encode(seconds, forKey: .seconds)
            return
        }
        var value = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try value.encode(flag)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .rate, .none: try value.encodeNil()
        }
    }
}
