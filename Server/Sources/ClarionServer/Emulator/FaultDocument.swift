import APNsEmulation
import APNsProtocol
import ServiceErrors

/// `POST /faults`: what goes wrong, and for which of the requests that pass every check.
struct FaultDocument: Codable, Sendable {
    /// The kind of fault; `status` when it is left out.
    var kind: String?
    var status: Int?
    var reason: String?
    /// For `delay`.
    var milliseconds: Int?
    /// Whether the struck request is delivered all the same; true when it is left out.
    var processed: Bool?
    /// The error code of HTTP/2 for `resetStream` and `goAway`.
    var code: Int?
    /// The debug data of `goAway` as it is, in place of a reason.
    var text: String?
    /// `zero`, `before`, `this`, `unanswered`, `twoStep` or `twoStepBefore`; `this` when it is left out.
    var lastStream: String?
    /// A stream of the caller's choice, in place of `lastStream`.
    var lastStreamId: Int?
    /// How often GOAWAY is sent.
    var times: Int?
    var leavesConnectionOpen: Bool?
    /// For `streamLimit` and `settings`.
    var streams: Int?
    /// For `settings`.
    var initialWindowSize: Int?
    var maximumFrameSize: Int?

    /// How many requests it strikes, after how many, or every how many; and to which device token alone.
    var count: Int?
    var after: Int?
    var every: Int?
    var token: String?

    /// The fault. Throws `invalid-field`.
    func fault() throws -> InjectedFault {
        let processed = processed ?? true
        switch kind ?? "status" {
        case "status": return try statusFault()
        case "delay": return .delay(.milliseconds(try Self.within(milliseconds, 0...3_600_000, "milliseconds")))
        case "noAnswer": return .noAnswer
        case "blackHole": return .blackHole
        case "wedge": return .wedge(processed: processed)
        case "refuseStream": return .refuseStream
        case "resetStream":
            let code = try Self.within(code ?? 2, 0...Int(UInt32.max), "code")
            return .resetStreamWithCode(UInt32(code), processed: processed)
        case "goAway": return .goAwayFrame(try goAwayForm())
        case "shutdown": return .shutdown
        case "streamLimit": return .streamLimit(try Self.within(streams, 0...1_000_000, "streams"))
        case "settings":
            let settings = SettingsDocument(
                streams: streams, initialWindowSize: initialWindowSize, maximumFrameSize: maximumFrameSize)
            return .settings(try settings.change())
        case "closeConnection": return .closeConnection(processed: processed)
        case "resetConnection": return .resetConnection(processed: processed)
        default: throw ServiceError(.invalidField, "field 'kind': no fault of this name; see Documentation/LocalAPNs.md")
        }
    }

    private func statusFault() throws -> InjectedFault {
        let status = try Self.within(status, 400...599, "status")
        guard let reason, !reason.isEmpty else { throw ServiceError(.invalidField, "field 'reason': expected a word of APNs") }
        return .status(status, APNsReason(rawValue: reason))
    }

    private func goAwayForm() throws -> GoAwayForm {
        let position: InjectedFault.LastStream
        if let lastStreamId {
            position = .stream(try Self.within(lastStreamId, 0...0x7FFF_FFFF, "lastStreamId"))
        } else {
            let words: [String: InjectedFault.LastStream] = [
                "zero": .zero, "before": .beforeThisRequest, "this": .thisRequest, "unanswered": .thisRequestUnanswered,
                "twoStep": .twoStep, "twoStepBefore": .twoStepBeforeThisRequest,
            ]
            guard let known = words[lastStream ?? "this"] else {
                throw ServiceError(.invalidField, "field 'lastStream': expected one of \(words.keys.sorted())")
            }
            position = known
        }
        let quoted = reason.map { #"{"reason":"\#($0.filter { $0.isLetter || $0.isNumber })"}"# }
        return GoAwayForm(
            lastStream: position, code: UInt32(try Self.within(code ?? 0, 0...Int(UInt32.max), "code")),
            debugData: String((text ?? quoted ?? "").prefix(4_096)), times: try Self.within(times ?? 1, 1...100, "times"),
            leavesConnectionOpen: leavesConnectionOpen ?? false)
    }

    static func within(_ number: Int?, _ range: ClosedRange<Int>, _ field: String) throws -> Int {
        guard let number, range.contains(number) else {
            throw ServiceError(
                .invalidField, "field '\(field)': expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Injects it. Throws `invalid-field`.
    func inject(into apns: LocalAPNs) throws {
        let fault = try fault()
        if let every {
            apns.inject(fault, everyRequests: try Self.within(every, 1...1_000_000_000, "every"), token: token)
        } else {
            apns.inject(
                fault, count: try Self.within(count ?? 1, 1...1_000_000, "count"),
                afterRequests: try Self.within(after ?? 0, 0...1_000_000_000, "after"), token: token)
        }
    }
}
