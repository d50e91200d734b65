import RichPushModel

extension SealedMessage {
    /// Throws `unfit` for the first field that the same send in clear would be refused for: what is sealed, nobody but its sender can check.
    func check() throws(SealedSendError) {
        let texts: [(String, String?, ClosedRange<Int>)] = [
            ("message", words.message, WordsRule.message), ("title", words.title, WordsRule.title),
            ("subtitle", words.subtitle, WordsRule.title), ("altText", words.altText, WordsRule.altText),
        ]
        for (field, text, scalars) in texts {
            if let rule = WordsRule.fault(of: text, scalars: scalars) { throw .unfit(field: field, rule: rule) }
        }
        try checkKind()
        if let rule = words.link.flatMap(LinkAddressRule.fault) { throw .unfit(field: "link", rule: rule) }
        if let fault = words.coupon.flatMap(WordsRule.fault) { throw .unfit(field: fault.field, rule: fault.rule) }
    }

    private func checkKind() throws(SealedSendError) {
        guard ContentKind.known.contains(words.kind), words.kind != .sealed else {
            let kinds = ContentKind.known.filter { $0 != .sealed }.map(\.rawValue).joined(separator: ", ")
            throw .unfit(field: "kind", rule: "one of \(kinds)")
        }
        let parts = [("link", ContentKind.link, words.link != nil), ("coupon", .coupon, words.coupon != nil)]
        for (field, kind, isThere) in parts where isThere != (words.kind == kind) {
            throw .unfit(field: field, rule: isThere ? "absent unless the kind is \(kind.rawValue)" : "present for this kind")
        }
        let needsBytes = [ContentKind.image, .sound, .video, .file].contains(words.kind)
        guard needsBytes == (content != nil) else {
            throw .unfit(field: "content", rule: needsBytes ? "present for this kind" : "absent for kind \(words.kind.rawValue)")
        }
    }
}
