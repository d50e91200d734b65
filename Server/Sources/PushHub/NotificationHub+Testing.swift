import RichPushModel
import ServiceErrors

extension NotificationHub {
    /// Sends to at most 10 devices of the audience, or to the first 10 handles, at once, waits for the answers and says them
    /// device by device (Azure reference 2.10). Nothing of it is stored. Throws as `send` does.
    public func test(_ command: SendCommand, through transport: any PushTransport) async throws -> TestSendReport {
        throw ServiceError(.notReady)
    }
}
