/// One HTTP/2 frame as it was on the wire, above TLS.
public struct FrameRecord: Sendable, Hashable {
    public enum Direction: String, Sendable, Hashable, Codable {
        /// From the client under test.
        case received
        case sent
    }

    /// Counts the connections from 1.
    public var connection: Int
    public var direction: Direction
    /// Uptime of the emulator's clock.
    public var at: Duration
    /// The type as a number; 0 is DATA.
    public var type: UInt8
    public var flags: UInt8
    public var stream: Int
    /// How long the payload is.
    public var length: Int
    /// The payload of SETTINGS, PING, GOAWAY, RST_STREAM, WINDOW_UPDATE and PRIORITY, cut at 256 bytes. Headers and bodies are
    /// not kept here: they hold credentials and content.
    public var payload: [UInt8]

    /// The name of the type in RFC 9113; a number for an unknown one.
    public var name: String {
        let names = [
            "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
            "CONTINUATION",
        ]
        return Int(type) < names.count ? names[Int(type)] : "\(type)"
    }
}
