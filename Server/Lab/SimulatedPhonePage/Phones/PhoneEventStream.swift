import DeviceSimulation
import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceLifecycle

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A phone as its page needs it: `SimulatedPhone`, `AndroidPhone`, and in tests something smaller.
public protocol PagePhone: Sendable {
    /// What can be seen of it now.
    var snapshot: PhoneSnapshot { get async }

    /// The story so far, in order, as far back as the phone remembers.
    var steps: [StoryStep] { get async }

    /// What happens from now on, until the phone is switched off. The stream may drop what its reader is too slow for; the
    /// sequence numbers of the story show the gap.
    func updates() async -> AsyncStream<PhoneUpdate>

    /// Performs a user action. Throws when there is nothing to touch.
    func perform(_ action: PhoneAction) async throws(PhoneActionError)

    /// The bytes behind a notification's attachment, or behind the content when `noticeID` is absent; `nil` when they
    /// are not on the phone.
    func media(for richID: RichID, attachmentOf noticeID: String?) async -> PhoneMedia?
}

extension SimulatedPhone: PagePhone {}
extension AndroidPhone: PagePhone {}

/// The events of phones, as server-sent events: `snapshot` of each at once and after each change, `story` for each step.
/// Snapshots and steps name their phone. All phones share one stream, because a browser opens no more than six connections to a
/// server.
///
/// A step's event id is `EPOCH-SEQUENCES`: the last sequence number of each phone in their order, with dots between. A browser
/// that reconnects (`Last-Event-ID`) gets only the events that it missed, or all of them if the program was restarted meanwhile.
struct PhoneEventStream: Sendable {
    /// Between two comments that keep the connection open and find out whether the other end is still there.
    static let heartbeatInterval: Duration = .seconds(15)

    /// How many events a slow reader may be behind; older ones are dropped, and lost steps are read again.
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
        var written = seen
        for place in phones.indices { try await writeStory(of: place, written: &written, to: &writer) }
        for await event in events {
            switch event {
            case .heartbeat: try await writer.write(ServerSentEvent.heartbeat)
            case .update(.snapshot(let snapshot), let place):
                // A phone also publishes its snapshot to each new listener; mostly it is unchanged.
                shown[place].time = snapshot.time
                guard shown[place] != snapshot else { continue }
                shown[place] = snapshot
                try await writer.write(ServerSentEvent.snapshot(snapshot).bytes)
            case .update(.story(let step), let place):
                if step.sequence == written[place] + 1 {
                    try await write(step, of: place, written: &written, to: &writer)
                } else if step.sequence > written[place] {
                    try await writeStory(of: place, written: &written, to: &writer)
                    written[place] = max(step.sequence, written[place])
                }
            }
        }
    }

    /// Writes the steps that are still missing.
    private func writeStory(of place: Int, written: inout [Int], to writer: inout any ResponseBodyWriter) async throws {
        for step in await phones[place].steps where step.sequence > written[place] {
            try await write(step, of: place, written: &written, to: &writer)
        }
    }

    private func write(
        _ step: StoryStep, of place: Int, written: inout [Int], to writer: inout any ResponseBodyWriter
    ) async throws {
        written[place] = step.sequence
        let id = written.map(String.init).joined(separator: ".")
        try await writer.write(ServerSentEvent.story(step, id: "\(epoch)-\(id)").bytes)
    }
}

extension HTTPField.Name {
    /// Where a browser that comes back stopped reading.
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .via
    /// Asks a reverse proxy to pass each event on at once.
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .via
}

/// One event of a `text/event-stream` (HTML standard, 9.2).
private struct ServerSentEvent {
    /// A comment, which browsers skip.
    static let heartbeat = ByteBuffer(string: ": still here\n\n")

    /// The event as it goes over the wire.
    let bytes: ByteBuffer

    /// The state of a phone. It also asks the browser to reconnect after a second when the connection is lost.
    static func snapshot(_ snapshot: PhoneSnapshot) throws -> ServerSentEvent {
        try ServerSentEvent(fields: "retry: 1000\nevent: snapshot\n", value: snapshot)
    }

    /// A step of the story; a browser that reconnects sends `id` to continue after it.
    static func story(_ step: StoryStep, id: String) throws -> ServerSentEvent {
        try ServerSentEvent(fields: "id: \(id)\nevent: story\n", value: step)
    }

    /// JSON without line breaks fits into one `data` field: every line break inside a string is escaped.
    private init(fields: String, value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes = ByteBuffer(string: fields + "data: ")
        bytes.writeBytes(try encoder.encode(value))
        bytes.writeString("\n\n")
        self.bytes = bytes
    }
}
