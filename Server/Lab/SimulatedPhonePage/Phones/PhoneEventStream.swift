import DeviceSimulation
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceLifecycle

/// What happens to phones, as server-sent events: `snapshot` of each at once and after each change, `story` for each step.
/// Snapshots and steps name their phone. All phones share one stream, because a browser opens no more than six connections to a
/// server.
///
/// A step's event id is `EPOCH-SEQUENCES`, the last sequence number of each phone in their order, with dots between, so that a
/// browser that comes back (`Last-Event-ID`) hears only what it missed, and hears everything when the program was started anew
/// meanwhile.
struct PhoneEventStream: Sendable {
    /// Between two comments that keep the connection open and find out whether the other end is still there.
    static let heartbeatInterval: Duration = .seconds(15)

    /// What a slow reader may be behind; older events are dropped, and lost steps are asked for again.
    private static let bufferedEvents = 256

    private enum Event: Sendable {
        /// Of the phone with this place in the list.
        case update(PhoneUpdate, of: Int)
        case heartbeat
    }

    let phones: [any PagePhone]
    let clock: any ServiceClock
    let epoch: String

    func response(to request: Request) -> Response {
        let seen = lastSequences(in: request.headers[.lastEventID])
        let body = ResponseBody { writer in
            try await write(after: seen, to: &writer)
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: body)
    }

    private func lastSequences(in header: String?) -> [Int] {
        let none = phones.map { _ in 0 }
        guard let parts = header?.split(separator: "-"), parts.count == 2, parts[0] == epoch else { return none }
        let sequences = parts[1].split(separator: ".").map { max(0, Int($0) ?? 0) }
        return sequences.count == phones.count ? sequences : none
    }

    private func write(after seen: [Int], to writer: inout any ResponseBodyWriter) async throws {
        let (events, feed) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        // Listening starts before the first look, so that nothing falls between the two.
        var updates: [AsyncStream<PhoneUpdate>] = []
        for phone in phones { updates.append(await phone.updates()) }
        let heard = updates
        // A page that is left open must not keep the server from stopping.
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    await Self.forward(heard, to: feed)
                    feed.finish()
                }
                group.addTask { [clock] in
                    while true {
                        try await clock.sleep(for: Self.heartbeatInterval)
                        feed.yield(.heartbeat)
                    }
                }
                try await write(events, after: seen, to: &writer)
            }
        } onGracefulShutdown: {
            feed.finish()
        }
    }

    /// Until every phone is switched off.
    private static func forward(_ updates: [AsyncStream<PhoneUpdate>], to feed: AsyncStream<Event>.Continuation) async {
        await withTaskGroup(of: Void.self) { group in
            for (place, stream) in updates.enumerated() {
                group.addTask { for await update in stream { feed.yield(.update(update, of: place)) } }
            }
        }
    }

    private func write(_ events: AsyncStream<Event>, after seen: [Int], to writer: inout any ResponseBodyWriter) async throws {
        var shown: [PhoneSnapshot] = []
        for phone in phones {
            shown.append(await phone.snapshot)
            try await writer.write(ServerSentEvent.snapshot(shown[shown.count - 1]).bytes)
        }
        var told = seen
        for place in phones.indices { try await writeStory(of: place, told: &told, to: &writer) }
        for await event in events {
            switch event {
            case .heartbeat: try await writer.write(ServerSentEvent.heartbeat)
            case .update(.snapshot(let snapshot), let place):
                // The phone tells what it looks like when the listening starts, too: mostly no news.
                shown[place].time = snapshot.time
                guard shown[place] != snapshot else { continue }
                shown[place] = snapshot
                try await writer.write(ServerSentEvent.snapshot(snapshot).bytes)
            case .update(.story(let step), let place):
                if step.sequence == told[place] + 1 {
                    try await write(step, of: place, told: &told, to: &writer)
                } else if step.sequence > told[place] {
                    try await writeStory(of: place, told: &told, to: &writer)
                    told[place] = max(step.sequence, told[place])
                }
            }
        }
    }

    /// Writes the steps that were not told yet.
    private func writeStory(of place: Int, told: inout [Int], to writer: inout any ResponseBodyWriter) async throws {
        for step in await phones[place].steps where step.sequence > told[place] {
            try await write(step, of: place, told: &told, to: &writer)
        }
    }

    private func write(
        _ step: StoryStep, of place: Int, told: inout [Int], to writer: inout any ResponseBodyWriter
    ) async throws {
        told[place] = step.sequence
        let id = told.map(String.init).joined(separator: ".")
        try await writer.write(ServerSentEvent.story(step, id: "\(epoch)-\(id)").bytes)
    }
}

extension HTTPField.Name {
    /// Where a browser that comes back stopped reading.
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .via
    /// Tells a reverse proxy to pass each event on at once.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .via
}
