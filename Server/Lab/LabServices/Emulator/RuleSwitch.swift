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

    static func flag(_ name: String, _ path: any Path<Bool>) -> RuleSwitch {
        RuleSwitch(
            name: name, read: { .flag($0[keyPath: path]) },
            write: { rules, value in
                guard case .flag(let flag) = value else { return false }
                rules[keyPath: path] = flag
                return true
            }, form: "true or false")
    }

    static func number(_ name: String, _ path: any Path<Int>, _ range: ClosedRange<Int>) -> RuleSwitch {
        RuleSwitch(
            name: name, read: { .number($0[keyPath: path]) },
            write: { rules, value in
                guard case .number(let number) = value, range.contains(number) else { return false }
                rules[keyPath: path] = number
                return true
            }, form: "a number from \(range.lowerBound) to \(range.upperBound)")
    }

    static func seconds(_ name: String, _ path: any Path<Int64>) -> RuleSwitch {
        RuleSwitch(
            name: name, read: { .number(Int($0[keyPath: path])) },
            write: { rules, value in
                guard case .number(let number) = value, (0...1_000_000_000).contains(number) else { return false }
                rules[keyPath: path] = Int64(number)
                return true
            }, form: "seconds from 0 to 1000000000")
    }

    static func optionalNumber(_ name: String, _ path: any Path<Int?>) -> RuleSwitch {
        RuleSwitch(
            name: name, read: { $0[keyPath: path].map { .number($0) } ?? .none },
            write: { rules, value in
                switch value {
                case .none: rules[keyPath: path] = nil
                case .number(let number) where (0...1_000_000_000).contains(number): rules[keyPath: path] = number
                default: return false
                }
                return true
            }, form: "a number from 0 to 1000000000, or null")
    }

    /// In milliseconds.
    static func duration(_ name: String, _ path: any Path<Duration>) -> RuleSwitch {
        RuleSwitch(
            name: name, read: { .number(Int($0[keyPath: path].wholeMilliseconds)) },
            write: { rules, value in
                guard case .number(let number) = value, (0...86_400_000).contains(number) else { return false }
                rules[keyPath: path] = .milliseconds(number)
                return true
            }, form: "milliseconds from 0 to 86400000")
    }

    /// In milliseconds.
    static func optionalDuration(_ name: String, _ path: any Path<Duration?>) -> RuleSwitch {
        let read: @Sendable (EmulationRules) -> RuleValue = { rules in
            rules[keyPath: path].map { .number(Int($0.wholeMilliseconds)) } ?? .none
        }
        return RuleSwitch(
            name: name, read: read,
            write: { rules, value in
                switch value {
                case .none: rules[keyPath: path] = nil
                case .number(let number) where (0...86_400_000).contains(number): rules[keyPath: path] = .milliseconds(number)
                default: return false
                }
                return true
            }, form: "milliseconds from 0 to 86400000, or null")
    }

    static func reason(
        _ name: String, _ path: any Path<APNsReason>, among allowed: Set<APNsReason> = APNsReason.documented
    ) -> RuleSwitch {
        let words = allowed.count < 5 ? allowed.map(\.rawValue).sorted().joined(separator: " or ") : "a reason of Apple's table"
        return RuleSwitch(
            name: name, read: { .word($0[keyPath: path].rawValue) },
            write: { rules, value in
                guard case .word(let word) = value else { return false }
                let reason = APNsReason(rawValue: word)
                guard allowed.contains(reason) else { return false }
                rules[keyPath: path] = reason
                return true
            }, form: words)
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
        _ name: String, _ path: any Path<Choice>
    )
        -> RuleSwitch
    {
        RuleSwitch(
            name: name, read: { .word($0[keyPath: path].rawValue) },
            write: { rules, value in
                guard case .word(let word) = value, let choice = Choice(rawValue: word) else { return false }
                rules[keyPath: path] = choice
                return true
            }, form: Choice.allCases.map(\.rawValue).joined(separator: " or "))
    }

    static func rate(_ name: String, _ path: any Path<EmulationRules.DeviceRate?>) -> RuleSwitch {
        let read: @Sendable (EmulationRules) -> RuleValue = { rules in
            rules[keyPath: path].map { .rate(count: $0.count, seconds: $0.seconds) } ?? .none
        }
        return RuleSwitch(
            name: name, read: read,
            write: { rules, value in
                switch value {
                case .none: rules[keyPath: path] = nil
                case .rate(let count, let seconds) where count > 0 && seconds > 0:
                    rules[keyPath: path] = .init(count: count, seconds: seconds)
                default: return false
                }
                return true
            }, form: #"{"count":…,"seconds":…}, or null"#)
    }
}
