/// The two doors of APNs. They listen on ports of their own (Reference/APNs.md#1-1).
enum APNsService: Sendable, Hashable {
    /// Device pushes and broadcasts.
    case provider
    /// The management of broadcast channels.
    case channelManagement
}
