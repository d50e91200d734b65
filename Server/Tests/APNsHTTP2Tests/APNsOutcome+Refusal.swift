import APNsProtocol

extension APNsOutcome {
    /// Why APNs refused it; `nil` for every other end.
    var refusal: APNsReason? { if case .rejected(let rejection) = self { rejection.reason } else { nil } }
}
