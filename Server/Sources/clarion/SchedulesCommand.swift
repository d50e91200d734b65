import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// When a send is due that does not leave at once.
struct ScheduleArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send at this moment instead of now. With --zone a time by the clocks there, such as 2026-12-24T18:00.",
            valueName: "moment"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "With --at: the time zone, such as Europe/Berlin, or \"device\": each phone gets it when its own clock shows the time.",
            valueName: "name"))
    var zone: String?

    @Option(
        help: ArgumentHelp("With --zone device: the zone of phones that report none. Default: UTC.", valueName: "name"))
    var fallbackZone: String?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp(
            "With --at and --zone: send again on the dates of this rule of RFC 5545, such as FREQ=WEEKLY;BYDAY=MO.",
            valueName: "rule"))
    var recurrence: String?

    @Flag(help: "Ask another person to approve it first. Without --at it leaves when it is approved.")
    var approval = false

    func validate() throws {
        guard zone == "device" || fallbackZone == nil else {
            throw ValidationError("--fallback-zone goes with --zone device")
        }
        guard at != nil || zone == nil && recurrence == nil else { throw ValidationError("--zone and --repeat go with --at") }
        guard zone != nil || recurrence == nil else {
            throw ValidationError("--repeat needs --zone, by whose clocks the sends are due")
        }
        if let at, zone == nil, Timestamp(argument: at) == nil {
            throw ValidationError("--at is a moment such as 2026-12-24T18:00+01:00 (UTC without a zone), or a time with --zone")
        }
    }

    /// The request for a notification; `nil` when it leaves at once.
    func request(for notification: SendRequest) -> ScheduleRequest? {
        guard at != nil || approval else { return nil }
        var request = ScheduleRequest(notification, at: zone == nil ? at.flatMap(Timestamp.init(argument:)) : nil)
        request.approval = approval ? true : nil
        guard let zone else { return request }
        (request.localTime, request.timeZone, request.fallbackTimeZone) = (at, zone, fallbackZone)
        request.recurrence = recurrence
        return request
    }
}

extension SendNotificationCommand {
    func validateForSchedule() throws {
        guard schedule.at != nil || schedule.approval else { return }
        guard hub.hub == nil, !seal, !wait else {
            throw ValidationError("--at and --approval go neither with --hub nor with --seal or --wait")
        }
    }

    /// Schedules the send, if it does not leave at once. Whether it did.
    func sendLater(_ client: BackendHTTPClient, _ notification: SendRequest, idempotencyKey key: String) async throws -> Bool {
        guard schedule.at != nil || schedule.approval else { return false }
        var notification = notification
        if let content { notification.contentID = try await client.upload(content).id }
        guard let request = schedule.request(for: notification) else { return false }
        let answer = try await client.schedule(request, idempotencyKey: key)
        let due = answer.state == "proposed" && answer.next.isEmpty ? "when it is approved" : ScheduleTable.next(answer)
        print(json ? try JSONOutput.text(of: answer) : "schedule \(answer.id)\nstate \(answer.state)\ndue \(due)")
        return true
    }
}

struct SchedulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedules", abstract: "List, approve and cancel sends that are due later; `clarion send --at` makes them.",
        subcommands: [List.self, Approve.self, Cancel.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List scheduled sends, newest first.",
            discussion: "Lists your own; an admin sees those of everyone. Moments are in UTC.")

        @OptionGroup var server: ServerArguments

        @Flag(help: "List also those that are over.")
        var all = false

        @Flag(help: "List the proposals that wait for an approval, those of others too if you may approve them.")
        var proposed = false

        @Option(help: "How many to list, 1 to 1000.")
        var limit = 100

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws {
            guard (1...1000).contains(limit) else { throw ValidationError("--limit is a number from 1 to 1000") }
        }

        func run() async throws {
            try await server.client().use { client in
                let schedules = try await everyPage(limit: limit) { cursor, count in
                    let page = try await client.schedules(
                        state: proposed ? "proposed" : all ? nil : "waiting", before: cursor, limit: count)
                    return (page.schedules, page.next)
                }
                print(json ? try JSONOutput.text(of: schedules) : ScheduleTable.table(schedules).description)
            }
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Approve the proposal of another person.",
            discussion: "Look at it first: `clarion schedules --proposed --json` shows what is sent to whom.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id of the proposal.")
        var id: Int64

        @Option(help: "The revision that you have looked at. Without it the latest is approved.")
        var revision: Int64?

        func run() async throws {
            try await server.client().use { client in
                let seen = if let revision { revision } else { try await client.schedule(id).revision }
                let answer = try await client.approveSchedule(id, revision: seen)
                print("approved \(id)\ndue \(ScheduleTable.next(answer))")
            }
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel a scheduled send. What it has sent already is taken back with `clarion recall`.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id that `clarion send --at` printed.")
        var id: Int64

        func run() async throws {
            try await server.client().use { client in
                try await client.cancelSchedule(id)
                print("cancelled \(id)")
            }
        }
    }
}

private enum ScheduleTable {
    /// When it is due next: in UTC, or by the clocks of the devices.
    static func next(_ schedule: ScheduleStatus) -> String {
        schedule.nextLocal?.first.map { "\($0) on each device" } ?? schedule.next.first?.inUTC ?? "-"
    }

    static func table(_ schedules: [ScheduleStatus]) -> TextTable {
        TextTable(
            columns: ["ID", "STATE", "NEXT", "REPEAT", "SENT", "MISSED", "SENDER", "AUDIENCE"],
            rows: schedules.map { schedule in
                [
                    "\(schedule.id)", schedule.state, next(schedule), schedule.request.recurrence ?? "-",
                    "\(schedule.sent)",
                    "\(schedule.missed)", schedule.sender, schedule.request.notification.audience ?? "-",
                ]
            })
    }
}

extension BackendHTTPClient {
    private static let path = APIRoute.prefix + "/schedules"

    fileprivate func schedule(_ request: ScheduleRequest, idempotencyKey: String) async throws -> ScheduleStatus {
        try await answer(
            to: message(.POST, Self.path, json: try JSONEncoder().encode(request), idempotencyKey: idempotencyKey),
            as: ScheduleStatus.self)
    }

    fileprivate func schedule(_ id: Int64) async throws -> ScheduleStatus {
        try await answer(to: message(.GET, "\(Self.path)/\(id)"), as: ScheduleStatus.self)
    }

    fileprivate func approveSchedule(_ id: Int64, revision: Int64) async throws -> ScheduleStatus {
        let body = try JSONEncoder().encode(["revision": revision])
        return try await answer(to: message(.POST, "\(Self.path)/\(id)/approval", json: body), as: ScheduleStatus.self)
    }

    fileprivate func schedules(state: String?, before: String?, limit: Int) async throws -> ScheduleList {
        let query = Self.query(["state": state, "before": before, "limit": "\(limit)"])
        return try await answer(to: message(.GET, Self.path + query), as: ScheduleList.self)
    }

    fileprivate func cancelSchedule(_ id: Int64) async throws {
        _ = try await body(ofAnswerTo: message(.DELETE, "\(Self.path)/\(id)"))
    }
}
