import RichPushModel
import ServiceErrors

/// Texts with places for values: `{{order}}`, also with blanks inside the brackets.
enum PlaceholderText {
    /// The longest name of a value, and the longest value, in characters.
    static let limits = (name: 32, value: 500)

    /// A part of a text.
    private enum Part {
        case text(Substring)
        case place(String)
    }

    /// The names of the values that a text has places for. Throws `invalid-field` for `{{` without a name of 1 to 32 letters, digits and
    /// `_`, and `}}`.
    static func names(in text: String) throws(ServiceError) -> [String] {
        try parts(of: text).compactMap { if case .place(let name) = $0 { name } else { nil } }
    }

    /// The text with the values in their places, each changed by `escape`. Throws `invalid-field` for a value that is missing.
    static func filled(
        _ text: String, _ values: [String: String], escape: (String) -> String
    ) throws(ServiceError) -> String {
        var filled = ""
        for part in try parts(of: text) {
            switch part {
            case .text(let text): filled += text
            case .place(let name):
                guard let value = values[name] else {
                    throw ServiceError(.invalidField, "template: the value '\(name)' is missing")
                }
                filled += escape(value)
            }
        }
        return filled
    }

    private static func parts(of text: String) throws(ServiceError) -> [Part] {
        var (parts, rest): ([Part], Substring) = ([], text[...])
        while let opening = rest.firstRange(of: "{{") {
            if opening.lowerBound > rest.startIndex { parts.append(.text(rest[..<opening.lowerBound])) }
            let inner = rest[opening.upperBound...]
            guard let closing = inner.firstRange(of: "}}") else { throw malformed }
            let name = inner[..<closing.lowerBound].filter { $0 != " " }
            guard isName(name) else { throw malformed }
            parts.append(.place(name))
            rest = inner[closing.upperBound...]
        }
        return rest.isEmpty ? parts : parts + [.text(rest)]
    }

    /// Whether a value can have this name.
    static func isName(_ name: String) -> Bool {
        (1...limits.name).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") }
    }

    private static let malformed = ServiceError(
        .invalidField, "{{ begins a place for a value, which has a name of 1 to 32 letters, digits and _, and ends with }}")
}

extension SendRequest {
    /// The request with every text of the notification changed, the link as `.link`.
    func mappingTexts(_ change: (TemplatedText, String) throws -> String) rethrows -> SendRequest {
        func changed(_ text: String?, _ kind: TemplatedText = .plain) throws -> String? { try text.map { try change(kind, $0) } }
        func changed(_ coupon: Coupon?) throws -> Coupon? {
            guard var coupon else { return nil }
            coupon.code = try change(.plain, coupon.code)
            coupon.headline = try change(.plain, coupon.headline)
            coupon.terms = try changed(coupon.terms)
            return coupon
        }
        var request = self
        request.title = try changed(title)
        request.subtitle = try changed(subtitle)
        request.message = try change(.plain, message)
        request.altText = try changed(altText)
        request.link = try changed(link, .link)
        request.coupon = try changed(coupon)
        request.translations = try translations?.map { translation in
            var own = translation
            own.title = try changed(translation.title)
            own.subtitle = try changed(translation.subtitle)
            own.message = try changed(translation.message)
            own.altText = try changed(translation.altText)
            own.link = try changed(translation.link, .link)
            own.coupon = try changed(translation.coupon)
            return own
        }
        return request
    }

    /// The request, and what it leaves out from a template. A content, a link or a coupon replaces the small variant as well.
    func over(_ base: SendRequest) -> SendRequest {
        var request = base
        request.audience = audience
        request.title = title ?? base.title
        request.subtitle = subtitle ?? base.subtitle
        request.message = message.isEmpty ? base.message : message
        request.altText = altText ?? base.altText
        request.kind = kind ?? base.kind
        request.style = style ?? base.style
        request.preview = preview ?? base.preview
        if contentID != nil || link != nil || coupon != nil {
            (request.contentID, request.link, request.coupon, request.thumbID) = (contentID, link, coupon, thumbID)
            request.kind = kind
        }
        request.thumbID = thumbID ?? request.thumbID
        request.split = split ?? base.split
        request.translations = translations ?? base.translations
        request.expiresAt = expiresAt
        request.collapseID = collapseID ?? base.collapseID
        request.sound = sound ?? base.sound
        request.badge = badge ?? base.badge
        request.thread = thread ?? base.thread
        request.pushesPerSecond = pushesPerSecond ?? base.pushesPerSecond
        request.transactional = transactional ?? base.transactional
        request.frequencyCap = frequencyCap ?? base.frequencyCap
        request.template = nil
        return request
    }
}

/// What a text with places becomes.
enum TemplatedText {
    case plain
    /// An address: its values are escaped.
    case link
}
