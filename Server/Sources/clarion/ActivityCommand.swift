import ArgumentParser
import CommandLineSupport
import HTTPService
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ActivityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activity", abstract: "Start, change, end and list Live Activities.",
        subcommands: [Start.self, Update.self, End.self, Show.self, Explain.self, List.self])

    /// The alert of a start or a change.
    struct AlertArguments: ParsableArguments {
        @Option(help: ArgumentHelp("The title of the alert.", valueName: "text"))
        var title: String?

        @Option(help: ArgumentHelp("The words of the alert.", valueName: "text"))
        var body: String?

        func validate() throws {
            guard (title == nil) == (body == nil) else { throw ValidationError("--title and --body go together") }
        }

        var alert: ActivityAlert? {
            guard let title, let body else { return nil }
            return ActivityAlert(title: title, body: body)
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start a Live Activity on the devices of an audience.",
            discussion: "Prints its id alone on standard output: `clarion activity update` and `end` take it.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The name of the app's type of attributes, such as DeliveryAttributes.")
        var attributesType: String

        @Option(help: ArgumentHelp("What changes, as a JSON object.", valueName: "json"))
        var state: String

        @Option(help: ArgumentHelp("What stays the same, as a JSON object.", valueName: "json"))
        var attributes: String?

        @Option(help: ArgumentHelp("A tag expression. Default: your own devices.", valueName: "expression"))
        var audience: String?

        @OptionGroup var alert: AlertArguments

        @Option(help: ArgumentHelp("When it counts as out of date unless a change came.", valueName: "moment"))
        var staleAt: String?

        @Flag(help: "The app starts it itself, with the id; no push does.")
        var byApp = false

        @Option(
            help: ArgumentHelp(
                "A channel, on which one push reaches all followers from iOS 18 on: its id, or new for one of its own.",
                valueName: "id"))
        var channel: String?

        @Option(help: ArgumentHelp("A repeat with the same key starts nothing twice.", valueName: "key"))
        var idempotencyKey: String?

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws {
            guard byApp || alert.alert != nil else { throw ValidationError("a start by push needs --title and --body") }
            guard channel.map({ $0 == "new" || Int64($0) != nil }) ?? true else {
                throw ValidationError("--channel is the id of a channel, or new")
            }
        }

        func run() async throws {
            var request = ActivityRequest(
                attributesType: attributesType, attributes: try attributes.map { try JSONArgument.object($0, "--attributes") },
                state: try JSONArgument.object(state, "--state"), audience: audience)
            request.alert = alert.alert
            request.staleAt = try staleAt.map { try JSONArgument.moment($0, "--stale-at") }
            if byApp { request.start = "app" }
            request.channel = channel.flatMap { Int64($0) }
            if channel == "new" { request.delivery = "channel" }
            try await server.client().use { [request] client in
                let answer = try await client.start(request, idempotencyKey: idempotencyKey)
                if json { return print(try JSONOutput.text(of: answer)) }
                // The id alone on standard output, so that a script can take it; the rest is a note.
                let channel = answer.apnsChannel.map { " on channel \($0)" } ?? ""
                Terminal.note("started \(answer.attributesType)\(channel) for \(answer.audience)")
                print(answer.id)
            }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give a Live Activity another state.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id that `clarion activity start` printed.")
        var id: Int64

        @Option(help: ArgumentHelp("What changes, as a JSON object.", valueName: "json"))
        var state: String

        @OptionGroup var alert: AlertArguments

        @Option(
            help: ArgumentHelp("10 sends it at once, from a small budget of iOS; 5 lets the system choose.", valueName: "number"))
        var priority: Int?

        @Option(
            help: ArgumentHelp(
                "When it counts as out of date unless a change came, or never. Default: as it was.", valueName: "moment"))
        var staleAt: String?

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            var change = ActivityChange(state: try JSONArgument.object(state, "--state"))
            (change.alert, change.priority) = (alert.alert, priority)
            if let staleAt { change.staleAt = .some(staleAt == "never" ? nil : try JSONArgument.moment(staleAt, "--stale-at")) }
            try await server.client().use { [change] client in
                let answer = try await client.change(id, change)
                print(json ? try JSONOutput.text(of: answer) : "changed \(id), revision \(answer.revision)")
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a Live Activity, with a last state or as it is.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id that `clarion activity start` printed.")
        var id: Int64

        @Option(help: ArgumentHelp("The last state, as a JSON object.", valueName: "json"))
        var state: String?

        @Option(help: ArgumentHelp("When it goes from the lock screen, within four hours.", valueName: "moment"))
        var dismissAt: String?

        func run() async throws {
            var change = ActivityChange(state: try state.map { try JSONArgument.object($0, "--state") })
            change.end = true
            change.dismissAt = try dismissAt.map { try JSONArgument.moment($0, "--dismiss-at") }
            try await server.client().use { [change] client in
                if change.state == nil, change.dismissAt == nil {
                    try await client.endActivity(id)
                } else {
                    _ = try await client.change(id, change)
                }
                print("ended \(id)")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a Live Activity, its followers and its pushes, as JSON.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id that `clarion activity start` printed.")
        var id: Int64

        func run() async throws {
            try await server.client().use { client in print(try JSONOutput.text(of: try await client.activity(id))) }
        }
    }

    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Say why a user sees a Live Activity, or does not.")

        @Argument(help: "The id that `clarion activity start` printed.")
        var id: Int64

        @OptionGroup var question: ExplanationArguments

        func run() async throws { try await question.answer("activity", "\(id)") }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List Live Activities, newest first.", discussion: "Lists your own; an admin sees those of everyone.")

        @OptionGroup var server: ServerArguments

        @Option(help: "How many to list, 1 to 1000.")
        var limit = 100

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws {
            guard (1...1000).contains(limit) else { throw ValidationError("--limit is a number from 1 to 1000") }
        }

        func run() async throws {
            try await server.client().use { client in
                let activities = try await everyPage(limit: limit) { cursor, count in
                    let page = try await client.activities(before: cursor, limit: count)
                    return (page.activities, page.next)
                }
                print(json ? try JSONOutput.text(of: activities) : Self.table(activities).description)
            }
        }

        private static func table(_ activities: [ActivityStatus]) -> TextTable {
            TextTable(
                columns: ["ID", "TYPE", "PHASE", "REVISION", "FOLLOWERS", "STARTED", "SENDER", "AUDIENCE"],
                rows: activities.map { activity in
                    [
                        "\(activity.id)", activity.attributesType, activity.phase, "\(activity.revision)",
                        "\(activity.followers.values.reduce(0, +))", activity.createdAt.inUTC, activity.sender, activity.audience,
                    ]
                })
        }
    }
}

/// Arguments that are checked here, so that a mistake names its option.
private enum JSONArgument {
    static func object(_ text: String, _ option: String) throws -> JSONValue {
        let value: JSONValue
        // What the server would refuse is refused before a decoder changes it, such as a number beyond 64 bits.
        do { value = try JSONFields.decode(JSONValue.self, from: Array(text.utf8)) } catch {
            throw ValidationError("\(option): \(error.detail ?? error.code.rawValue)")
        }
        guard value.members != nil else {
            throw ValidationError("\(option) is a JSON object such as {\"stage\": \"packed\"}")
        }
        return value
    }

    static func moment(_ text: String, _ option: String) throws -> Timestamp {
        // A number counts milliseconds; one as small as a year is a slip.
        guard let moment = Timestamp(argument: text), moment.milliseconds > 100_000_000_000 else {
            throw ValidationError("\(option) is a moment such as 2026-12-24T18:00+01:00 (UTC without a zone)")
        }
        return moment
    }
}

extension BackendHTTPClient {
    fileprivate func start(_ request: ActivityRequest, idempotencyKey: String?) async throws -> ActivityStatus {
        try await answer(
            to: message(
                .POST, APIRoute.activities, json: try JSONEncoder().encode(request), idempotencyKey: idempotencyKey),
            as: ActivityStatus.self)
    }

    fileprivate func change(_ id: Int64, _ change: ActivityChange) async throws -> ActivityStatus {
        try await answer(
            to: message(.PATCH, APIRoute.activity(id), json: try JSONEncoder().encode(change)), as: ActivityStatus.self)
    }

    fileprivate func endActivity(_ id: Int64) async throws {
        _ = try await body(ofAnswerTo: message(.DELETE, APIRoute.activity(id)))
    }

    fileprivate func activity(_ id: Int64) async throws -> ActivityStatus {
        try await answer(to: message(.GET, APIRoute.activity(id)), as: ActivityStatus.self)
    }

    fileprivate func activities(before: String?, limit: Int) async throws -> ActivityList {
        let query = Self.query(["before": before, "limit": "\(limit)"])
        return try await answer(to: message(.GET, APIRoute.activities + query), as: ActivityList.self)
    }
}
