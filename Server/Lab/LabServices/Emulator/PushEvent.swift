import APNsEmulation
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A push as a subscriber of the local APNs reads it: one server-sent event with a line of JSON.
struct PushEvent {
    private struct Wire: Encodable {
        var apnsId: String
        var topic: String
        var pushType: String?
        var priority: Int
        var collapseId: String?
        var stored: Bool
        /// The body as sent; base64 when it is not UTF-8.
        var payload: String
    }

    private let push: DeliveredPush

    init(_ push: DeliveredPush) { self.push = push }

    var buffer: ByteBuffer {
        let wire = Wire(
            apnsId: push.apnsID.uuidString.lowercased(), topic: push.topic, pushType: push.pushType?.rawValue,
            priority: push.priority, collapseId: push.collapseID, stored: push.storedWhileOffline,
            payload: String(validating: push.payload, as: UTF8.self) ?? Data(push.payload).base64EncodedString())
        let json = (try? JSONEncoder().encode(wire)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return ByteBuffer(string: "event: push\ndata: \(json)\n\n")
    }
}
