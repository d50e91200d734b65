import APNsEmulation
import Foundation
import RichPushModel
import Testing

/// A phone by the calls that it makes, at one server or another.
struct PhoneCaller {
    let id: String
    /// With the credential that the server gave; at whatever address a test names.
    private let credential: String
    let pushes: AsyncStream<DeliveredPush>

    /// Registers a phone for a user at a server.
    init(_ id: String, of user: APIClient, apns: LocalAPNs) async throws {
        self.id = id
        let token = apns.issueToken(device: id, topic: Fleet.topic)
        pushes = apns.connect(device: id)
        let answer = try await user.call(
            "PUT", APIRoute.installation(try #require(InstallationID(id))),
            json: InstallationUpdate(handle: token, topic: Fleet.topic))
        try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        credential = try #require(try answer.decoded(InstallationAnswer.self).credential)
    }

    /// What it asks a server as.
    func at(_ address: String) -> APIClient {
        APIClient(address: address, user: "", password: "", installationCredential: credential)
    }

    /// The id that the next push carries.
    func nextRichID() async throws -> RichID {
        let pushed = try await withThrowingTaskGroup(of: Data?.self) { group in
            group.addTask { [pushes] in
                for await push in pushes { return Data(push.payload) }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: .seconds(60))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        let found = try #require(pushed, "no push came")
        return try #require(PushEnvelope(payload: found)?.id, "no rich push: \(String(decoding: found, as: UTF8.self))")
    }
}
