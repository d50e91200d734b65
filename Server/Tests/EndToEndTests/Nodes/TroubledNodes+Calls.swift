import Foundation
import Logging
import PushHub
import RichPushModel
import SharedAccess
import Testing

@testable import RemoteHub

/// What a backend asks of them, and asks again at another until one answers.
extension TroubledNodes {
    /// Waits until all of them say that they are ready.
    func awaitReady() async throws {
        for node in nodes {
            _ = try await eventually("node \(node.number) is ready") {
                let answer = try? await fleet.caller(at: node.process.address).call("GET", "/readyz")
                return answer?.status == 200 ? true : nil
            }
        }
    }

    /// A send to the fleet through the app backend.
    func send(key: String, _ change: (inout SendRequest) -> Void = { _ in }) async throws -> NotificationID {
        var request = SendRequest(message: "Hello, fleet")
        request.audience = "fleet"
        change(&request)
        return try await eventually("a node accepts the send") {
            let caller = fleet.caller(at: anyNode().process.address)
            let answer = try? await caller.call(
                "POST", APIRoute.notifications, json: request, headers: ["Idempotency-Key": key])
            guard let answer, answer.status == 201 else { return nil }
            return NotificationID(try answer.decoded(SendAnswer.self).trackingID)
        }
    }

    /// The same through the hub protocol, at a moment to come.
    func schedule(at moment: Timestamp, request: String) async throws -> NotificationID {
        let message = RemoteNotification.apple(#"{"aps":{"alert":"Hello, fleet"}}"#, tags: "fleet")
        return try await eventually("a node takes the schedule") {
            try? await withHub { hub in
                try await hub.schedule(message, at: moment, requestID: request).id.flatMap { NotificationID($0) }
            }
        }
    }

    /// Cancels a send through the hub protocol. The moment of the 200; absent when the send had ended before.
    func cancel(_ id: NotificationID) async throws -> Timestamp? {
        try await eventually("a node answers the cancel") { () -> Timestamp?? in
            try? await withHub { hub in try await hub.cancelSchedule(id.text) ? SystemClock().now : nil }
        }
    }

    /// The hub by its protocol, at any of the nodes.
    func withHub<Result: Sendable>(_ body: (RemoteHub) async throws -> Result) async throws -> Result {
        let endpoint = try #require(SharedAccessEndpoint(anyNode().process.address + "/"))
        let hub = try RemoteHub(
            try ConnectionString(endpoint: endpoint, keyName: rule.name, key: rule.primary), hub: hubName,
            options: RemoteHubOptions(deadline: .seconds(20), retries: 0),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let result: Result
        do { result = try await body(hub) } catch {
            try? await hub.shutDown()
            throw error
        }
        try await hub.shutDown()
        return result
    }
}
