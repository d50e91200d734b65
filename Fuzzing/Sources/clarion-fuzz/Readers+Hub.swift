import Foundation
import NotificationTemplates
import RichPushModel
import SharedAccess
import TagExpressions

@testable import HubHTTPAPI
@testable import HubProtocol
@testable import PushHub

/// What the hub protocol reads. What this product reads and writes is read again as the same.
extension FuzzedReader {
    static let hub = [
        FuzzedReader("tag-expression", readTagExpression), FuzzedReader("template", readTemplate),
        FuzzedReader("template-properties", readTemplateProperties), FuzzedReader("registration-xml", readRegistration),
        FuzzedReader("hub-xml", readDocument), FuzzedReader("import-lines", readImportFile),
        FuzzedReader("installation-json", readInstallation), FuzzedReader("installation-patch", readPatch),
        FuzzedReader("wire-json", readWireJSON), FuzzedReader("batch-body", readBatch),
        FuzzedReader("send-headers", readSendHeaders), FuzzedReader("hub-address", readAddress),
    ]

    @Sendable private static func readTagExpression(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for commas in [TagExpression.Commas.refused, .joinAlternatives] {
            guard let expression = try? TagExpression(parsing: text, commas: commas) else { continue }
            let printed = expression.description
            guard let again = try? TagExpression(parsing: printed) else {
                precondition(printed.utf8.count > TagExpressionLimits.bytes, "what was printed cannot be read")
                continue
            }
            precondition(again.description == printed, "the text changes when it is read again")
            let sets = [[], Set(expression.tags), Set(expression.tags.prefix(1)), Set(expression.tags.dropFirst())]
            for tags in sets {
                precondition(again.matches(tags) == expression.matches(tags), "the meaning changes when it is read again")
                guard case .tags(let cover) = expression.plan(), expression.matches(tags) else { continue }
                precondition(!cover.isDisjoint(with: tags), "the plan misses a device")
            }
        }
        _ = try? RegistrationTags(separatedByCommas: text)
    }

    @Sendable private static func readTemplate(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let platform = Platform(rawValue: ["apns", "wns", "mpns", "gcm", "baidu"][input.choice(below: 5)])
        let text = input.text
        if let template = try? NotificationTemplate(text, format: TemplateFormat(platform: platform)) {
            precondition(template.text == text, "the text of a template changes")
            for properties in filling {
                guard let filled = try? template.render(properties) else { continue }
                precondition(filled.count <= TemplateLimits.renderedBytes, "a filled template is too long")
                if template.isConstant { precondition(filled == Array(text.utf8), "a constant template changes") }
                if template.format == .json { expectObject(filled) }
            }
        }
        let short = String(text.prefix(500))
        if let value = try? ExpressionText(short, in: .body) {
            for properties in filling { _ = try? value.render(properties) }
        }
        if let expiry = try? TemplateExpiry(short) { _ = try? expiry.render(filling[1]) }
        if let priority = try? TemplatePriority(short) { _ = try? priority.render(filling[1]) }
        guard let headers = try? TemplateHeaders([(name: "apns-collapse-id", value: short)], platform: .apns) else { return }
        for properties in filling { _ = try? headers.render(properties) }
    }

    private static let filling: [TemplateProperties] = [
        [:], ["a": "1", "name": "\"\\<&>'\u{1}é🙂", "b": "true"], ["a": "", "name": "$(a)", "b": "-1e3"],
    ].compactMap { try? TemplateProperties($0) }

    /// The body of a push is JSON, whatever filled it; names that occur twice stood in the template.
    private static func expectObject(_ bytes: [UInt8]) {
        do { _ = try PushBodyReader.aps(in: bytes) } catch {
            let allowed = ["names aps twice", "names a member of aps twice", "has an aps that is no object"]
            precondition(allowed.contains { error.detail?.contains($0) == true }, "a filled template is no JSON: \(error)")
        }
    }

    @Sendable private static func readTemplateProperties(_ bytes: [UInt8]) {
        guard let properties = try? TemplateProperties(json: String(decoding: bytes, as: UTF8.self)) else { return }
        let json = properties.json
        guard json.utf8.count <= TemplateLimits.propertyBytes else { return }
        precondition((try? TemplateProperties(json: json)) == properties, "stored properties are read as others")
    }

    @Sendable private static func readRegistration(_ bytes: [UInt8]) {
        _ = try? RegistrationDescription.read(feed: bytes)
        guard let description = try? RegistrationDescription.read(entry: bytes) else { return }
        guard var asked = try? RegistrationDescription.read(entry: Array(description.request().utf8)) else {
            preconditionFailure("a request that was written cannot be read")
        }
        (asked.etag, asked.expirationTime) = (description.etag, description.expirationTime)
        precondition(asked == description, "a request is read as another")
        expectSameLine(description)
    }

    private static func expectSameLine(_ description: RegistrationDescription) {
        let line = RegistrationLines.line(description)
        precondition(line.dropLast().utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D }, "a line has more than one line")
        guard let again = try? RegistrationLines.read(Array(line.utf8)) else {
            preconditionFailure("a line that was written cannot be read")
        }
        precondition(again == description, "a line is read as another registration")
    }

    @Sendable private static func readDocument(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let choice = input.choice(below: 9)
        let rest = input.rest
        switch choice {
        case 0: _ = try? HubDescription.read(entry: rest)
        case 1: _ = try? HubDescription.read(feed: rest)
        case 2:
            guard let job = try? HubJobDocument.read(entry: rest) else { return }
            precondition((try? HubJobDocument.read(entry: Array(job.request().utf8))) != nil, "a job cannot be read again")
        case 3: _ = try? HubJobDocument.read(feed: rest)
        case 4: _ = try? NotificationDetails.read(rest)
        case 5: _ = try? NotificationOutcome.read(rest)
        case 6: _ = try? PnsFeedback.read(rest)
        case 7: _ = try? ContainerListing.read(rest)
        default: _ = ErrorBody.read(rest)
        }
    }

    /// A file of an import: its lines do not depend on the pieces in which it comes.
    @Sendable private static func readImportFile(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let (limit, size) = (1 + input.choice(below: 256) * 16, 1 + input.choice(below: 64))
        let whole = lines([input.rest], limit)
        precondition(whole == lines(input.rest.pieces(of: size), limit), "the pieces decide what is read")
        precondition(whole.last.map { $0.end <= input.bytes.count } ?? true, "a line ends behind the file")
        for line in whole {
            guard let bytes = line.bytes else { continue }
            precondition(bytes.count <= limit, "a line is longer than allowed")
            for kind in HubJob.Kind.allCases { _ = try? RegistrationFileFormat().change(in: bytes, for: kind) }
        }
    }

    private static func lines(_ pieces: [[UInt8]], _ limit: Int) -> [LineSplitter.Line] {
        var splitter = LineSplitter(limit: limit)
        var lines: [LineSplitter.Line] = []
        for piece in pieces {
            splitter.append(piece)
            while let line = splitter.next() { lines.append(line) }
        }
        return splitter.finish().map { lines + [$0] } ?? lines
    }
}
