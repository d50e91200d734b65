import ArgumentParser
import CommandLineSupport
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ChannelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Create, list and remove broadcast channels of Live Activities.",
        subcommands: [Create.self, Show.self, List.self, Remove.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a channel that stays until it is removed.",
            discussion: "Prints its id, and the id that APNs gave it, with which an app follows it.")

        @OptionGroup var server: ServerArguments

        @Option(help: ArgumentHelp("What you call it.", valueName: "text"))
        var name: String?

        @Flag(help: "Keep no push for devices that are offline or follow later; Apple grants more updates then.")
        var withoutStorage = false

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let request = ChannelRequest(name: name, storage: withoutStorage ? "none" : "latest")
            try await server.client().use { client in
                let channel = try await client.create(request)
                print(json ? try JSONOutput.text(of: channel) : "channel \(channel.id): \(channel.apnsChannel)")
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a channel as JSON.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id that `clarion channel create` printed.")
        var id: Int64

        func run() async throws {
            try await server.client().use { client in print(try JSONOutput.text(of: try await client.channel(id))) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List channels, newest first.", discussion: "Lists your own; an admin sees those of everyone.")

        @OptionGroup var server: ServerArguments

        @Option(help: "How many to list, 1 to 10000.")
        var limit = 100

        @Flag(help: "List the channels that the app has at APNs and this server did not create. For admins.")
        var others = false

        @Flag(help: "Print JSON.")
        var json = false

        func validate() throws {
            guard (1...10_000).contains(limit) else { throw ValidationError("--limit is a number from 1 to 10000") }
        }

        func run() async throws {
            try await server.client().use { client in
                if others {
                    let list = try await client.otherChannels()
                    print(json ? try JSONOutput.text(of: list) : list.apnsChannels.joined(separator: "\n"))
                    return
                }
                let channels = try await everyPage(limit: limit) { cursor, count in
                    let page = try await client.channels(before: cursor, limit: count)
                    return (page.channels, page.next)
                }
                print(json ? try JSONOutput.text(of: channels) : Self.table(channels).description)
            }
        }

        private static func table(_ channels: [ChannelStatus]) -> TextTable {
            TextTable(
                columns: ["ID", "NAME", "STORAGE", "ACTIVITY", "CREATED", "REMOVED AFTER", "ID AT APNS"],
                rows: channels.map { channel in
                    [
                        "\(channel.id)", channel.name ?? "", channel.storage, channel.activity.map { "\($0)" } ?? "",
                        channel.createdAt.inUTC, channel.removeAt?.inUTC ?? "", channel.apnsChannel,
                    ]
                })
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a channel. Devices that follow it get nothing more.")

        @OptionGroup var server: ServerArguments

        @Argument(help: "The id that `clarion channel create` printed; with --other one of `clarion channel list --others`.")
        var id: String

        @Flag(help: "The channel is one that this server did not create. For admins.")
        var other = false

        func validate() throws {
            guard other || Int64(id) != nil else { throw ValidationError("the id of a channel is a number") }
        }

        func run() async throws {
            try await server.client().use { client in
                if other {
                    try await client.removeOther(id)
                } else {
                    try await client.removeChannel(Int64(id) ?? 0)
                }
                print("removed \(id)")
            }
        }
    }
}

extension BackendHTTPClient {
    fileprivate func create(_ request: ChannelRequest) async throws -> ChannelStatus {
        try await answer(to: message(.POST, APIRoute.channels, json: try JSONEncoder().encode(request)), as: ChannelStatus.self)
    }

    fileprivate func channel(_ id: Int64) async throws -> ChannelStatus {
        try await answer(to: message(.GET, APIRoute.channel(id)), as: ChannelStatus.self)
    }

    fileprivate func channels(before: String?, limit: Int) async throws -> ChannelList {
        let query = Self.query(["before": before, "limit": "\(limit)"])
        return try await answer(to: message(.GET, APIRoute.channels + query), as: ChannelList.self)
    }

    fileprivate func otherChannels() async throws -> OtherChannelList {
        try await answer(to: message(.GET, APIRoute.otherChannels), as: OtherChannelList.self)
    }

    fileprivate func removeChannel(_ id: Int64) async throws {
        _ = try await body(ofAnswerTo: message(.DELETE, APIRoute.channel(id)))
    }

    fileprivate func removeOther(_ apnsChannel: String) async throws {
        _ = try await body(ofAnswerTo: message(.DELETE, APIRoute.otherChannels + Self.query(["apnsChannel": apnsChannel])))
    }
}
