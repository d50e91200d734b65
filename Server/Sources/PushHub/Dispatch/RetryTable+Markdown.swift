extension RetryTable {
    /// The table of `Documentation/Retries.md` that says what follows each ending, for the table's own settings.
    public var markdown: String {
        var lines = [
            "| A try ends with | Push types | Tries | Wait before the next | Counted at last as |",
            "| --- | --- | --- | --- | --- |",
        ]
        for ending in Ending.allCases { lines += rows(ending) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func rows(_ ending: Ending) -> [String] {
        let common = rule(for: ending, pushType: "alert")
        let others = rule(for: ending, pushType: "voip")
        guard common != others else { return [row(ending, "all", common)] }
        return [
            row(ending, Self.repeatable.sorted().map { "`\($0)`" }.joined(separator: ", "), common),
            row(ending, "all others", others),
        ]
    }

    private func row(_ ending: Ending, _ types: String, _ rule: Rule) -> String {
        let tries =
            switch rule.tries {
            case .once: "1"
            case .atMost(let most): "\(most)"
            case .untilDeadline: "until the expiry or the retry horizon"
            }
        let cells = [
            "`\(ending.rawValue)`: \(ending.meaning)", types, tries, rule.backOff?.words ?? "none", "`\(rule.outcome.rawValue)`",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }
}

extension RetryTable.Ending {
    fileprivate var meaning: String {
        switch self {
        case .accepted: "APNs took the push"
        case .gone: "APNs says that the device token is dead"
        case .badToken: "APNs says that the device token is malformed or of the other environment"
        case .rejected: "APNs refuses this push for good"
        case .tooLarge: "APNs says that the body is too large"
        case .noTransport: "nothing here sends to the platform or the environment of the device"
        case .deferred: "APNs refuses this push for now"
        case .unreachable: "the push did not leave: APNs or the way to it cannot be used"
        case .unavailable: "APNs answers that it cannot serve now"
        case .misconfigured: "the push did not leave: an operator has to correct the credential or the configuration"
        case .unknown: "the push left and was not answered"
        }
    }
}

extension BackOff {
    fileprivate var words: String {
        "\(base.components.seconds) s, doubling to \(cap.components.seconds) s, up to half of it less"
    }
}
