import FCMEmulation
import ServiceErrors

/// `POST /fcm/faults`: what goes wrong, and for which of the requests that pass every check.
struct FCMFaultDocument: Decodable {
    static let fields: Set<String> = [
        "kind", "endpoint", "times", "after", "every", "seconds", "date", "milliseconds", "processed", "rule",
    ]

    private enum Kind: String, CaseIterable {
        case tooManyRequests, unavailable, serverError, badGateway, refusal, delay, goAway, resetStream, stall, halfAnswer
        case loseAnswer, revokeTokens
    }

    private let kind: String
    private let endpoint: LocalFCMEndpoint?
    private let times: Int?
    private let after: Int?
    private let every: Int?
    /// Of `Retry-After`; as a date when `date` is true.
    private let seconds: Int?
    private let date: Bool?
    private let milliseconds: Int?
    private let processed: Bool?
    private let rule: String?

    /// Plans the fault. Throws `invalid-field`.
    func inject(into fcm: LocalFCM) throws(ServiceError) {
        let fault = try fault()
        let times = try Self.within(times ?? 1, 1...1_000_000, "times")
        let after = try Self.within(after ?? 0, 0...1_000_000, "after")
        let every = if let every { try Self.within(every, 1...1_000_000, "every") } else { Int?.none }
        fcm.inject(fault, at: endpoint ?? .send, times: times, after: after, every: every)
    }

    private func fault() throws(ServiceError) -> FCMFault {
        guard let kind = Kind(rawValue: kind) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServiceError(.invalidField, "field 'kind': expected one of \(known)")
        }
        switch kind {
        case .tooManyRequests: return .tooManyRequests(try pause())
        case .unavailable: return .unavailable(try pause())
        case .serverError: return .serverError
        case .badGateway: return .badGateway
        case .refusal:
            guard let rule = rule.flatMap(FCMRule.init(rawValue:)) else {
                throw ServiceError(.invalidField, "field 'rule': expected a rule that GET /fcm/rules lists")
            }
            return .refusal(rule)
        case .delay: return .delay(milliseconds: try Self.within(milliseconds, 0...600_000, "milliseconds"))
        case .goAway: return .goAway(processed: processed ?? false)
        case .resetStream: return .resetStream
        case .stall: return .stall
        case .halfAnswer: return .halfAnswer
        case .loseAnswer: return .loseAnswer
        case .revokeTokens: return .revokeTokens
        }
    }

    private func pause() throws(ServiceError) -> FCMFault.Pause? {
        guard let seconds else { return nil }
        let checked = try Self.within(seconds, 0...1_000_000_000, "seconds")
        return date == true ? .date(inSeconds: checked) : .seconds(checked)
    }

    private static func within(_ number: Int?, _ range: ClosedRange<Int>, _ field: String) throws(ServiceError) -> Int {
        guard let number, range.contains(number) else {
            throw ServiceError(
                .invalidField, "field '\(field)': expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
