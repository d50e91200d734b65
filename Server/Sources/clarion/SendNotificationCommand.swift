import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct SendNotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a rich notification through a running server, or a plain one through a hub.",
        discussion: """
            Prints the notification's id and its tracking id. With --wait it ends when every device has an outcome. With --at the server \
            keeps the notification and sends it then; `clarion schedules` lists and cancels such sends.
            """)

    @OptionGroup var server: ServerArguments
    @OptionGroup var hub: HubArguments
    @OptionGroup var schedule: ScheduleArguments

    @Option(help: "What the notification says.")
    var message = ""

    @Option(
        help: ArgumentHelp(
            "The message template that it is made from. What is not given here is that of the template.", valueName: "name"))
    var template: String?

    @Option(
        name: .customLong("value"),
        help: ArgumentHelp("A value for the template, such as order=4711; once for each.", valueName: "name=text"))
    var values: [String] = []

    @Option(help: "The line above the message.")
    var title: String?

    @Option(help: "The line between title and message.")
    var subtitle: String?

    @Option(
        help: ArgumentHelp(
            "The receivers, for example 'username:alice && !beta'. Without it your own devices.", valueName: "expression"))
    var audience: String?

    @Option(help: ArgumentHelp("silent, alert or both.", valueName: "style"))
    var style: DeliveryStyle?

    @Option(help: ArgumentHelp("What Apple may read: open or neutral.", valueName: "policy"))
    var preview: PreviewPolicy?

    @Option(help: "A picture to carry; '-' reads it, as every other content, from standard input.")
    var picture: String?

    @Option(help: "A sound to carry.")
    var sound: String?

    @Option(help: "A video to carry.")
    var video: String?

    @Option(help: "Any other file to carry.")
    var file: String?

    @Option(help: "An https link to carry, opened only after the reader agrees.")
    var link: String?

    @Option(help: ArgumentHelp("The code of a coupon to carry; needs --headline.", valueName: "code"))
    var coupon: String?

    @Option(help: ArgumentHelp("What the coupon is for.", valueName: "text"))
    var headline: String?

    @Option(help: "A text for users who cannot see or hear the content.")
    var altText: String?

    @Option(
        help: ArgumentHelp(
            "What it is in other languages and groups: JSON in a file, as the field `translations` of the API has it.",
            valueName: "file"))
    var translations: String?

    @Option(
        help: ArgumentHelp(
            "The groups of an A/B test with their percents, such as A=50,B=50; a translation may name one.", valueName: "groups"))
    var split: String?

    @Option(
        help: ArgumentHelp("Sends with the same key and percents have the same users in each group.", valueName: "key"))
    var splitKey: String?

    @Flag(help: "End-to-end encryption: texts and content are sealed here, and only devices of --to open them.")
    var seal = false

    @Option(
        help: ArgumentHelp("With --seal: whose devices, with commas between the names; without it your own.", valueName: "users"))
    var to: String?

    @Option(
        help: ArgumentHelp("With --seal: seal for the keys in this file alone; see `clarion keys --json`.", valueName: "file"))
    var keys: String?

    @Option(help: ArgumentHelp("With --seal: a small picture for the notification.", valueName: "file"))
    var thumb: String?

    @Option(
        help: ArgumentHelp(
            "A key of your own, so that running the command again after an error sends once. Without it each command is a send.",
            valueName: "text"))
    var idempotencyKey: String?

    @Option(
        help: ArgumentHelp(
            "A frequency cap of the server: who had as many sends as it allows gets no push.", valueName: "name"))
    var frequencyCap: String?

    @Flag(help: "Send also in the quiet hours of the server, and past its frequency caps, as a code for a sign-in has to.")
    var transactional = false

    @Flag(help: "Wait until every device has an outcome, at most a minute, and print the counts.")
    var wait = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard [picture, sound, video, file, link, coupon].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("a notification carries one of --picture, --sound, --video, --file, --link and --coupon")
        }
        guard (coupon == nil) == (headline == nil) else {
            throw ValidationError("a coupon has a code and a headline: give --coupon and --headline together")
        }
        guard !message.isEmpty || template != nil else { throw ValidationError("--message or --template is missing") }
        guard template != nil || values.isEmpty else { throw ValidationError("--value goes with --template") }
        guard template == nil || hub.hub == nil && !seal else {
            throw ValidationError("--template goes neither with --hub nor with --seal")
        }
        guard values.allSatisfy({ $0.contains("=") }) else { throw ValidationError("--value is a name, = and a text") }
        try validateForHub()
        try validateForSealing()
        try validateForSchedule()
    }

    func run() async throws {
        if hub.hub != nil { return try await sendThroughHub() }
        if content == "-", !server.hasSecret {
            throw ValidationError(
                "standard input holds the content, so a key has to be in CLARION_KEY or the password in CLARION_PASSWORD")
        }
        let client = try server.client()
        try await client.use { client in
            let key = idempotencyKey ?? UUID().uuidString
            let request = try request()
            if try await sendLater(client, request, idempotencyKey: key) { return }
            let answer =
                seal
                ? try await sendSealed(client, idempotencyKey: key)
                : try await client.send(request, content: content, idempotencyKey: key)
            var report = Report(answer)
            if !json {
                print("id \(answer.id)\ntracking \(answer.trackingID)")
                Terminal.note("readable by \(answer.readableBy)")
            }
            // With --json the answer is printed with the status, and without it when there is none to be had.
            defer { if json, let text = try? JSONOutput.text(of: report) { print(text) } }
            guard wait else { return }
            let status = try await client.waitUntilFinal(answer.id, atMost: .seconds(60))
            report.status = status
            try printCounts(of: status)
        }
    }

    private func request() throws -> SendRequest {
        var request = SendRequest(message: message)
        request.title = title
        request.subtitle = subtitle
        request.altText = altText
        request.audience = audience
        request.style = style
        request.preview = preview
        request.link = link
        if let coupon, let headline { request.coupon = Coupon(code: coupon, headline: headline) }
        request.kind = kind
        request.transactional = transactional ? true : nil
        request.frequencyCap = frequencyCap
        if let template {
            let pairs = values.map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init) }
            request.template = TemplateUse(
                name: template, values: Dictionary(pairs.map { ($0[0], $0[1]) }) { $1 })
        }
        if let translations { request.translations = try Self.translations(in: translations) }
        if let split { request.split = SendSplit(key: splitKey, groups: try Self.groups(split)) }
        return request
    }

    private static func groups(_ text: String) throws -> [SendSplit.Group] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let pair = part.split(separator: "=", omittingEmptySubsequences: false)
            guard pair.count == 2, let percent = Int(pair[1]) else {
                throw ValidationError("--split: it has groups with their percents, such as A=50,B=50")
            }
            return SendSplit.Group(name: String(pair[0]), percent: percent)
        }
    }

    private static func translations(in path: String) throws -> [SendTranslation] {
        let data = try ContentInput.read(path)
        do { return try JSONDecoder().decode([SendTranslation].self, from: data) } catch let error as DecodingError {
            throw InputFault("--translations: \(path): \(error.place)", .badInput)
        }
    }

    var kind: ContentKind? {
        if picture != nil { return .image }
        if sound != nil { return .sound }
        if video != nil { return .video }
        if file != nil { return .file }
        if coupon != nil { return .coupon }
        return link == nil ? nil : .link
    }

    var content: String? { picture ?? sound ?? video ?? file }

    /// What `--json` prints.
    private struct Report: Encodable {
        var id: String
        var trackingId: String
        var readableBy: String
        /// Present with `--wait`.
        var status: SendStatus?

        init(_ answer: SendAnswer) {
            (id, trackingId, readableBy) = ("\(answer.id)", answer.trackingID, answer.readableBy)
        }
    }

    /// Prints the counts and ends with the exit code of the state.
    private func printCounts(of status: SendStatus) throws {
        var counts = status.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        if status.state == "completed", status.outcomes.values.allSatisfy({ $0 == 0 }) { counts = ["no device matched"] }
        if !json { print(([status.state] + counts).joined(separator: ", ")) }
        for (outcome, reasons) in (status.reasons ?? [:]).sorted(by: { $0.key < $1.key }) {
            let list = reasons.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            Terminal.note("\(outcome) because of: \(list)")
        }
        for failure in status.failures ?? [] {
            Terminal.note("device \(failure.device ?? "removed"): \(failure.outcome), \(failure.reason ?? "no reason given")")
        }
        for warning in status.warnings ?? [] { Terminal.note("clarion: \(warning)") }
        for line in OutcomeHint.lines(for: status.outcomes) { Terminal.note(line) }
        if !BackendHTTPClient.finalStates.contains(status.state) {
            let wait = status.waiting.map { "it waits for \($0.cause == "operator" ? "an operator" : "APNs") (\($0.reason))" }
            Terminal.note("clarion: it has not ended after a minute and goes on; \(wait ?? "the server's log says why")")
            throw ExitCode.tryAgain
        }
        if status.state != "completed" { throw ExitCode.failure }
    }
}

extension DeliveryStyle: @retroactive ExpressibleByArgument {}
extension PreviewPolicy: @retroactive ExpressibleByArgument {}

extension DecodingError {
    /// Where in a JSON text something is missing or wrong, and what.
    var place: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.path(context.codingPath))there is no '\(key.stringValue)'"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(Self.path(context.codingPath))there is a value of another type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "it is not JSON" : "\(Self.path(context.codingPath))\(context.debugDescription)"
        @unknown default: "it cannot be read"
        }
    }

    /// `[0].key: `, counted from 0 as programs do.
    private static func path(_ keys: [any CodingKey]) -> String {
        let path = keys.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return path.isEmpty ? "" : path + ": "
    }
}
