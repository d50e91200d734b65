import APNsEmulation
import APNsProtocol
import HTTPService
import ServerSettings
import ServiceErrors

/// `POST /faults`: what goes wrong, and for which of the requests that pass every check.
struct FaultDocument: AdministrationBody {
    static let kinds = FieldsByKind(
        kindField: "kind", shared: ["count", "after", "every", "token"],
        own: [
            "status": ["status", "reason", "unlisted"], "delay": ["milliseconds"], "noAnswer": [], "blackHole": [],
            "wedge": ["processed"], "refuseStream": [], "resetStream": ["code", "processed"],
            "goAway": ["lastStream", "lastStreamId", "reason", "unlisted", "text", "code", "times", "leavesConnectionOpen"],
            "shutdown": [], "streamLimit": ["streams"], "settings": ["streams", "initialWindowSize", "maximumFrameSize"],
            "closeConnection": ["processed"], "resetConnection": ["processed"],
        ])
    static let fields = kinds.all

    /// The kind of fault; `status` when it is left out.
    var kind: String?
    var status: Int?
    var reason: String?
    /// Whether the reason may be one that Apple does not document.
    var unlisted: Bool?
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

    /// How many requests it affects, after how many, or every how many; and for which device token alone.
    var count: Int?
    var after: Int?
    var every: Int?
    var token: String?

    /// Reads the body of a request. Throws `malformed-json` and `invalid-field`, also for a field that this kind does not use.
    static func read(_ bytes: [UInt8]) throws -> FaultDocument {
        let document = try JSONFields.decode(FaultDocument.self, from: bytes, known: fields)
        try kinds.check(document.kind ?? "status", in: bytes)
        let rivals: [(String, String, Bool)] = [
            ("every", "count", document.every != nil && document.count != nil),
            ("every", "after", document.every != nil && document.after != nil),
            ("lastStreamId", "lastStream", document.lastStreamId != nil && document.lastStream != nil),
            ("text", "reason", document.text != nil && document.reason != nil),
        ]
        for case (let field, let other, true) in rivals {
            throw ServiceError(.invalidField, "fields '\(field)' and '\(other)': one of the two")
        }
        return document
    }

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
        default: throw ServiceError(.invalidField, "field 'kind': no fault of this name")
        }
    }

    private func statusFault() throws -> InjectedFault {
        let status = try Self.within(status, 400...599, "status")
        guard let reason else { throw ServiceError(.invalidField, "field 'reason' is missing") }
        return .status(status, try ReasonParser.reason(reason, isUnlisted: unlisted ?? false))
    }

    private func goAwayForm() throws -> GoAwayForm {
        let position: InjectedFault.LastStream
        if let lastStreamId {
            position = .stream(try Self.within(lastStreamId, 0...0x7FFF_FFFF, "lastStreamId"))
        } else {
            let positions: [String: InjectedFault.LastStream] = [
                "zero": .zero, "before": .beforeThisRequest, "this": .thisRequest, "unanswered": .thisRequestUnanswered,
                "twoStep": .twoStep, "twoStepBefore": .twoStepBeforeThisRequest,
            ]
            guard let known = positions[lastStream ?? "this"] else {
                throw ServiceError(.invalidField, "field 'lastStream': expected one of \(positions.keys.sorted())")
            }
            position = known
        }
        let known = try reason.map { try ReasonParser.reason($0, isUnlisted: unlisted ?? false).rawValue }
        let quoted = known.map { #"{"reason":"\#($0.filter { $0.isLetter || $0.isNumber })"}"# }
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
        if let token, !apns.knowsToken(token) {
            throw ServiceError(.invalidField, "field 'token': no device token like this was issued here")
        }
        if let every {
            apns.inject(fault, everyRequests: try Self.within(every, 1...1_000_000_000, "every"), token: token)
        } else {
            apns.inject(
                fault, count: try Self.within(count ?? 1, 1...1_000_000, "count"),
                afterRequests: try Self.within(after ?? 0, 0...1_000_000_000, "after"), token: token)
        }
    }
}

/// A body of which one field, the kind, says which of the others it may have.
struct FieldsByKind: Sendable {
    /// The field that says it.
    let kindField: String
    /// What every kind may have.
    let shared: Set<String>
    /// What a kind may have besides.
    let own: [String: Set<String>]

    var all: Set<String> { own.values.reduce(shared.union([kindField])) { $0.union($1) } }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// Throws `invalid-field` for a kind that there is not, and for a field of another kind.
    func check(_ kind: String, in bytes: [UInt8]) throws {
        guard let own = own[kind] else { throw ServiceError(.invalidField, "field '\(kindField)': \(unknown(kind))") }
        let allowed = shared.union(own)
        let given = try JSONFields.decode([String: AnyValue].self, from: bytes).keys
        for field in given.sorted() where field != kindField && !allowed.contains(field) {
            let expectation = own.isEmpty ? "none of its own" : own.sorted().joined(separator: ", ")
            throw ServiceError(.invalidField, "field '\(field)' does not belong to '\(kind)', which has \(expectation)")
        }
    }

    private func unknown(_ kind: String) -> String {
        let expected = "expected one of \(own.keys.sorted().joined(separator: ", "))"
        return Spelling.nearest(to: kind, among: own.keys.sorted()).map { "did you mean \($0)? \(expected)" } ?? expected
    }
}

/// Parses a reason of APNs in a request to the administration.
enum ReasonParser {
    /// Throws `invalid-field` for a reason that the table does not have, unless `isUnlisted`: a typing error would test how a client
    /// handles unknown reasons.
    static func reason(_ text: String, isUnlisted: Bool = false) throws(ServiceError) -> APNsReason {
        let reason = APNsReason(rawValue: text)
        if isUnlisted {
            guard (1...64).contains(text.utf8.count) else { throw ServiceError(.invalidField, "field 'reason': expected a word") }
            return reason
        }
        guard APNsReason.documented.contains(reason) else {
            throw ServiceError(.invalidField, "field 'reason': \(unknown(text)), or \"unlisted\": true to send it all the same")
        }
        return reason
    }

    /// The message for a text that is no reason.
    static func unknown(_ text: String) -> String {
        Spelling.nearest(to: text, among: APNsReason.documented.map(\.rawValue).sorted()).map { "did you mean \($0)?" }
            ?? "expected a reason of APNs as in Apple's table"
    }
}
