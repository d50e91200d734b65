import RichPushModel
import WireText

/// All that a rule may look at.
struct SenderEvidence: Sendable {
    /// What the token of an endpoint stands for.
    enum Target: Sendable, Hashable {
        case unreadable, userGone, subscriptionGone
        /// A living subscription, with the key of a sender that it is bound to.
        case alive(uaid: String, channelID: String, key: [UInt8]?)
    }

    var request: SenderRequest
    var path: SenderPath
    /// Scheme, host and port of the endpoints.
    var origin: String
    var now: Timestamp
    var target: Target
    /// The header `Authorization`, where it could be read.
    var vapid: VAPIDStatement?
    /// The body, where there is one with a whole header.
    var shape: EncryptedBodyShape?
    /// Salt and key were used for another message.
    var isKeyUsed = false

    /// The VAPID header is judged: it is there, or has to be.
    var judgesVAPID: Bool { request.header("authorization") != nil }

    var hasBody: Bool { request.bodySize > 0 }

    /// The seconds that the sender asks for; digits beyond the range of a number count as the most.
    var ttl: Int64? {
        guard let text = request.header("ttl"), SenderCheck.isDigits(text) else { return nil }
        return Int64(text) ?? .max
    }
}

/// One rule: a pure function from the evidence to whether the rule is broken.
struct SenderCheck: Sendable {
    let rule: SenderRule
    let isBroken: @Sendable (SenderEvidence) -> Bool

    init(_ rule: SenderRule, _ isBroken: @escaping @Sendable (SenderEvidence) -> Bool) {
        (self.rule, self.isBroken) = (rule, isBroken)
    }

    /// The first rule that a request breaks; `nil` for a good one.
    ///
    /// - Parameter without: rules that are left out, by which tests show that each of them is needed.
    static func firstBroken(_ evidence: SenderEvidence, without left: Set<SenderRule> = []) -> SenderRule? {
        let order = if case .endpoint = evidence.path { order } else { address }
        return order.first { !left.contains($0.rule) && $0.isBroken(evidence) }?.rule
    }

    /// The order in which a message is judged. Where Mozilla's code has an order that was read, it is this one: size, token, VAPID,
    /// headers, encryption. A request breaks the first one alone, as it gets one answer.
    static let order: [SenderCheck] = address + subscription + vapid + headers + body

    /// What is judged of any request.
    private static let address: [SenderCheck] = [
        .init(.path) { $0.path == .unknown },
        .init(.method) { evidence in
            switch evidence.path {
            case .endpoint: evidence.request.method != "POST"
            case .message: evidence.request.method != "DELETE"
            case .health: evidence.request.method != "GET"
            case .redirected, .unknown: false
            }
        },
        .init(.noRedirect) { $0.path == .redirected },
        .init(.bodySize) { $0.request.bodySize > 4_096 },
    ]

    private static let subscription: [SenderCheck] = [
        .init(.tokenReadable) { $0.target == .unreadable },
        .init(.userKnown) { $0.target == .userGone },
        .init(.subscriptionKnown) { $0.target == .subscriptionGone },
    ]

    /// Section 4 of the page. An endpoint without a key takes a message without VAPID, and checks one that is there.
    private static let vapid: [SenderCheck] = [
        .init(.vapidPresent) { evidence in
            guard case .alive(_, _, .some) = evidence.target else { return false }
            return !evidence.judgesVAPID
        },
        .init(.vapidForm) { $0.judgesVAPID && $0.vapid == nil },
        .init(.vapidHeader) { $0.vapid.map { !$0.hasRightHeader } ?? false },
        .init(.vapidSignature) { $0.vapid.map { !$0.isSigned } ?? false },
        .init(.vapidKey) { evidence in
            guard case .alive(_, _, let key?) = evidence.target, let vapid = evidence.vapid else { return false }
            return vapid.publicKey != key
        },
        .init(.vapidAudiencePath) { evidence in
            evidence.vapid?.audience.map { $0.hasPrefix(evidence.origin + "/") } ?? false
        },
        .init(.vapidAudience) { evidence in
            guard let vapid = evidence.vapid else { return false }
            return vapid.audience != evidence.origin && vapid.audience?.hasPrefix(evidence.origin + "/") != true
        },
        .init(.vapidExpiry) { $0.vapid.map { $0.expiry == nil } ?? false },
        .init(.vapidFresh) { evidence in evidence.vapid?.expiry.map { $0 <= Double(evidence.now.seconds) } ?? false },
        .init(.vapidLifetime) { evidence in
            evidence.vapid?.expiry.map { $0 > Double(evidence.now.seconds + 24 * 3_600) } ?? false
        },
        .init(.vapidSubject) { evidence in
            guard let vapid = evidence.vapid else { return false }
            return ["mailto:", "https://"].allSatisfy { start in
                vapid.subject.map { !$0.hasPrefix(start) || $0.utf8.count == start.utf8.count } ?? true
            }
        },
    ]

    private static let headers: [SenderCheck] = [
        .init(.ttlPresent) { $0.request.header("ttl") == nil },
        .init(.ttlNumber) { evidence in
            evidence.request.header("ttl").map { !isDigits($0.hasPrefix("-") ? $0.dropFirst() : $0[...]) } ?? false
        },
        .init(.ttlNotNegative) { $0.request.header("ttl")?.hasPrefix("-") ?? false },
        .init(.topic) { evidence in
            evidence.request.header("topic").map { text in
                !(1...32).contains(text.utf8.count) || !text.utf8.allSatisfy(isURLSafe)
            } ?? false
        },
        .init(.urgency) { evidence in
            evidence.request.header("urgency").map { !["very-low", "low", "normal", "high"].contains($0) } ?? false
        },
    ]

    /// The size of a long body is a matter of `bodySize`; nothing of it is here to be looked at.
    private static let body: [SenderCheck] = [
        .init(.encodingPresent) { $0.hasBody && $0.request.header("content-encoding") == nil },
        .init(.encoding) { evidence in
            evidence.hasBody && evidence.request.header("content-encoding").map { $0 != "aes128gcm" } ?? false
        },
        .init(.noKeyHeaders) { evidence in
            guard evidence.hasBody else { return false }
            return ["encryption", "crypto-key"].contains { name in
                let parameters = evidence.request.header(name)?.split { $0 == ";" || $0 == "," }.map(\.trimmingBlanks) ?? []
                return parameters.contains { $0.hasPrefix("salt=") || $0.hasPrefix("dh=") }
            }
        },
        .init(.bodyHeader) { !$0.request.body.isEmpty && $0.shape == nil },
        .init(.keyIDLength) { $0.shape.map { $0.keyID.count != 65 } ?? false },
        .init(.keyOnCurve) { $0.shape.map { $0.keyID.count == 65 && !$0.isKeyOnCurve } ?? false },
        .init(.recordSize) { $0.shape.map { $0.recordSize < 18 } ?? false },
        .init(.recordPresent) { $0.shape.map { $0.recordBytes < EncryptedBodyShape.smallestRecord } ?? false },
        .init(.recordSizeFits) { $0.shape.map { !$0.dividesIntoRecords } ?? false },
        .init(.oneRecord) { $0.shape.map { $0.recordBytes > $0.recordSize && $0.dividesIntoRecords } ?? false },
        .init(.freshKeys) { $0.isKeyUsed },
    ]

    static func isDigits(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit) }

    private static func isURLSafe(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
