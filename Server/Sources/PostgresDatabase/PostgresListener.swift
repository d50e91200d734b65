import Foundation
import Logging
import RichPushModel
import SQLStorage
import Synchronization

/// Listens for notifications on a channel of the database, with its own connection and thread.
///
/// A notification may be lost while the connection is down, and behind a pooler in transaction mode all are. So a reader has to poll
/// as well; notifications only save waiting.
public final class PostgresListener: Sendable {
    /// How long the thread waits for a call before it looks whether it is to end.
    private static let attention: Duration = .milliseconds(500)
    /// How long nothing may come before the server is asked whether it is there.
    private static let silence: Duration = .seconds(15)
    private static let longestPause: Duration = .seconds(5)

    /// One element for any number of calls in a row, and one for each new connection, because calls may have been missed. For one
    /// reader.
    public let calls: AsyncStream<Void>
    private let ending = Ending()

    private final class Ending: Sendable {
        let isOver = Mutex(false)
    }

    /// Begins to listen; reconnects when the server cannot be reached. `channel` is a name of the program's own. Throws
    /// `SQLFault.misconfigured` on a machine without PostgreSQL's client library.
    public init(
        _ url: DatabaseURL, channel: String, clock: any ServiceClock = .system,
        logger: Logger = Logger(label: "clarion.database")
    ) throws {
        precondition(channel.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "_") }, "a name that needs no quotes")
        let context = PostgresConnection.Context(
            library: try LibPQ.loaded(), url: url, clock: clock, limits: PostgresLimits(), canceller: Canceller())
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.calls = calls
        let ending = ending
        let thread = Thread {
            Self.listen(context, channel, ending, logger) { continuation.yield() }
            continuation.finish()
        }
        thread.name = "clarion-pg-listen"
        thread.start()
    }

    deinit { close() }

    /// Ends the connection soon.
    public func close() { ending.isOver.withLock { $0 = true } }

    private static func listen(
        _ context: PostgresConnection.Context, _ channel: String, _ ending: Ending, _ logger: Logger, _ call: () -> Void
    ) {
        var pause = Duration.milliseconds(200)
        while !ending.isOver.withLock({ $0 }) {
            do {
                let link = try PostgresConnection(context)
                defer { link.close() }
                _ = try link.simple("LISTEN \(channel)", within: context.limits.answer)
                pause = .milliseconds(200)
                call()
                try hear(link, context, ending, call)
            } catch {
                logger.debug("Calls of other nodes are not heard for the moment", metadata: ["error_type": "\(type(of: error))"])
                Thread.sleep(forTimeInterval: (pause * Double.random(in: 0.5...1)) / .seconds(1))
                pause = min(pause * 2, longestPause)
            }
        }
    }

    /// Until the end, or until the connection breaks.
    private static func hear(
        _ link: PostgresConnection, _ context: PostgresConnection.Context, _ ending: Ending, _ call: () -> Void
    ) throws {
        var lastSign = context.clock.uptime
        while !ending.isOver.withLock({ $0 }) {
            if try link.hears(within: attention) {
                lastSign = context.clock.uptime
                call()
            } else if context.clock.uptime - lastSign > silence {
                _ = try link.simple("SELECT 1", within: context.limits.connect)
                lastSign = context.clock.uptime
            }
        }
    }
}
