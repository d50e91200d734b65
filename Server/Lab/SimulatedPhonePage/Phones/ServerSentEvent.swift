import DeviceSimulation
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One event of a `text/event-stream` (HTML standard, 9.2).
struct ServerSentEvent {
    /// A comment, which browsers skip.
    static let heartbeat = ByteBuffer(string: ": still here\n\n")

    /// The event as it goes over the wire.
    let bytes: ByteBuffer

    /// How the phone looks. The first one also tells the browser to come back after a second when the connection is lost.
    static func snapshot(_ snapshot: PhoneSnapshot) throws -> ServerSentEvent {
        try ServerSentEvent(fields: "retry: 1000\nevent: snapshot\n", value: snapshot)
    }

    /// A step of the story; `id` tells where to go on after it.
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
