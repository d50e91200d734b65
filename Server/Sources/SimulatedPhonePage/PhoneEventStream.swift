import DeviceSimulation
import HTTPTypes
import Hummingbird
import RichPushModel
import ServiceLifecycle

/// What happens to one phone, as server-sent events: `snapshot` at once and after each change, `story` for each step.
///
/// A step's event id is `EPOCH-SEQUENCE`, so that a browser that comes back (`Last-Event-ID`) hears only what it missed,
/// and hears everything when the program was started anew meanwhile.
struct PhoneEventStream: Sendable {
    /// Between two comments that keep the connection open and find out whether the other end is still there.
    static let heartbeatInterval: Duration = .seconds(15)

    /// What a slow reader may be behind; older events are dropped, and lost steps are asked for again.
    private static let bufferedEvents = 256

    private enum Event: Sendable {
        case update(PhoneUpdate)
        case heartbeat
    }

    let phone: any PagePhone
    let clock: any ServiceClock
    let epoch: String

    func response(to request: Request) -> Response {
        let seen = lastSequence(in: request.headers[.lastEventID])
        let body = ResponseBody { writer in
            try await write(after: seen, to: &writer)
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: body)
    }

    private func lastSequence(in header: String?) -> Int {
        guard let parts = header?.split(separator: "-"), parts.count == 2, parts[0] == epoch else { return 0 }
        return max(0, Int(parts[1]) ?? 0)
    }

    private func write(after seen: Int, to writer: inout any ResponseBodyWriter) async throws {
        let (events, feed) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        // Listening starts before the first look, so that nothing falls between the two.
        let updates = await phone.updates()
        // A page that is left open must not keep the server from stopping.
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    for await update in updates { feed.yield(.update(update)) }
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

    private func write(_ events: AsyncStream<Event>, after seen: Int, to writer: inout any ResponseBodyWriter) async throws {
        var shown = await phone.snapshot
        try await writer.write(ServerSentEvent.snapshot(shown).bytes)
        var sequence = try await writeStory(after: seen, to: &writer)
        for await event in events {
            switch event {
            case .heartbeat: try await writer.write(ServerSentEvent.heartbeat)
            case .update(.snapshot(let snapshot)):
                // The phone tells what it looks like when the listening starts, too: mostly no news.
                shown.time = snapshot.time
                guard shown != snapshot else { continue }
                shown = snapshot
                try await writer.write(ServerSentEvent.snapshot(snapshot).bytes)
            case .update(.story(let step)):
                if step.sequence == sequence + 1 {
                    try await writer.write(ServerSentEvent.story(step, epoch: epoch).bytes)
                    sequence = step.sequence
                } else if step.sequence > sequence {
                    sequence = max(step.sequence, try await writeStory(after: sequence, to: &writer))
                }
            }
        }
    }

    /// Writes the steps after `sequence` and returns the last one's number.
    private func writeStory(after sequence: Int, to writer: inout any ResponseBodyWriter) async throws -> Int {
        var last = sequence
        for step in await phone.steps where step.sequence > sequence {
            try await writer.write(ServerSentEvent.story(step, epoch: epoch).bytes)
            last = step.sequence
        }
        return last
    }
}

extension HTTPField.Name {
    /// Where a browser that comes back stopped reading.
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .via
    /// Tells a reverse proxy to pass each event on at once.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .via
}
