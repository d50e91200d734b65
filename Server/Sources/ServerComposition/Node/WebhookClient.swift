import AppBackend
import AsyncHTTPClient
import NIOCore
import RichPushModel
import ServerDelivery
import ServerSettings
import ServiceErrors
import SharedAccess

/// Connects to webhooks, whose addresses a caller that manages them chooses.
struct WebhookClient: WebhookTransport {
    private let connector: OutboundConnector
    private let clock: any ServiceClock

    /// Creates a client. `trustRootsPath` names certificates that vouch for receivers besides the system's. Throws `not-ready` when they
    /// cannot be read.
    init(
        allowing rule: OutboundRule, trustRootsPath: String?, clock: any ServiceClock, group: any EventLoopGroup
    ) throws(ServiceError) {
        connector = try OutboundConnector(
            allowing: rule, trustRoots: trustRootsPath.map { ($0, "webhook-trust-roots-path") }, clock: clock, group: group)
        self.clock = clock
    }

    /// Starts the threads for lookups.
    func start() { connector.start() }

    /// Ends them.
    func shutDown() { connector.shutDown() }

    func connect(to address: OutboundAddress) async -> any WebhookConnection {
        do throws(OutboundRefusal) {
            let client = try await connector.client(
                for: address, width: WebhookDispatcher.width, within: WebhookDispatcher.attemptTime)
            return PinnedConnection(client: client, address: address, clock: clock)
        } catch {
            return RefusedConnection(reason: error.reason)
        }
    }
}

/// Connections to one address of a host.
private struct PinnedConnection: WebhookConnection {
    /// The most bytes of an answer that are read, and those of them that are kept.
    private static let answerBytes = 16_384
    private static let keptBytes = 1_024

    let client: HTTPClient
    let address: OutboundAddress
    let clock: any ServiceClock

    func post(_ message: WebhookMessage) async -> WebhookReply {
        await clock.attempt(within: WebhookDispatcher.attemptTime, orElse: .unreachable(Self.late)) {
            do { return try await exchange(message) } catch { return .unreachable(Self.reason(of: error)) }
        }
    }

    func close() async { try? await client.shutdown() }

    private func exchange(_ message: WebhookMessage) async throws -> WebhookReply {
        var request = HTTPClientRequest(url: address.url)
        request.method = .POST
        for header in message.headers { request.headers.add(name: header.name, value: header.value) }
        request.headers.add(name: "user-agent", value: "Clarion/\(ClarionVersion.current)")
        request.body = .bytes(ByteBuffer(bytes: message.body))
        let answer = try await client.execute(request, timeout: .seconds(WebhookDispatcher.attemptTime.components.seconds))
        // An answer that is longer is no reason to try again.
        let body = (try? await answer.body.collect(upTo: Self.answerBytes)) ?? ByteBuffer()
        return .status(
            Int(answer.status.code), retryAfter: answer.headers.first(name: "retry-after").flatMap { Int($0) },
            text: String(decoding: body.readableBytesView.prefix(Self.keptBytes), as: UTF8.self).filter { $0 != "\0" })
    }

    private static let late = "no answer within \(WebhookDispatcher.attemptTime.components.seconds) seconds"

    /// Nothing of an error of the client is kept but its kind.
    private static func reason(of error: any Error) -> String { OutboundFailure(error).reason(late: late) }
}

/// In place of a connection that may not be made.
private struct RefusedConnection: WebhookConnection {
    let reason: String

    func post(_ message: WebhookMessage) async -> WebhookReply { .unreachable(reason) }

    func close() async {}
}
