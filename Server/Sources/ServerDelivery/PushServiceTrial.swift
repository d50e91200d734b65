import AsyncHTTPClient
import NIOPosix
import RichPushModel
import ServerSettings
import ServiceErrors
import SharedAccess

/// Asks push services of browsers whether they can be reached as a push reaches them: with the same look at the address and the certificate.
/// No push is sent.
package struct PushServiceTrial: Sendable {
    /// How long the lookup may take, and the answer.
    private static let limit: Duration = .seconds(5)

    private let connector: OutboundConnector

    /// What keeps pushes from each of these hosts, in their order; `nil` for one that answers. Throws `not-ready` when the certificates of the
    /// settings cannot be read.
    package static func faults(
        of hosts: [String], _ settings: Settings.WebPush
    ) async throws(ServiceError) -> [String?] {
        let connector = try OutboundConnector(
            allowing: settings.rule.places, trustRoots: settings.trustRootsPath.map { ($0, "web-push-trust-roots-path") },
            clock: SystemClock(), group: .singletonMultiThreadedEventLoopGroup)
        connector.start()
        let trial = PushServiceTrial(connector: connector)
        let faults = await withTaskGroup(of: (Int, String?).self) { tasks in
            for (position, host) in hosts.enumerated() { tasks.addTask { (position, await trial.fault(of: host)) } }
            return await tasks.reduce(into: [String?](repeating: nil, count: hosts.count)) { $0[$1.0] = $1.1 }
        }
        connector.shutDown()
        return faults
    }

    private func fault(of host: String) async -> String? {
        guard let address = OutboundAddress("https://\(host.contains(":") ? "[\(host)]" : host)/") else {
            return OutboundRefusal.noAddress.reason
        }
        let client: HTTPClient
        do throws(OutboundRefusal) {
            client = try await connector.client(for: address, width: 1, within: Self.limit)
        } catch { return error.reason }
        var request = HTTPClientRequest(url: address.url)
        request.method = .HEAD
        var failure: OutboundFailure?
        // Whatever it answers, it was reached.
        do { _ = try await client.execute(request, timeout: .seconds(Self.limit.components.seconds)) } catch {
            failure = OutboundFailure(error)
        }
        try? await client.shutdown()
        return failure?.reason(late: WebPushClient.noAnswer)
    }
}
