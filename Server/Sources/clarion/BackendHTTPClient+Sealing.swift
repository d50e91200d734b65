import AsyncHTTPClient
import NIOCore
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BackendHTTPClient {
    /// What is needed to seal for some users, named with commas between them; without names for the caller.
    func sealingDirectory(users: String?) async throws -> SealingDirectory {
        // Names have no character that would need escaping but these two.
        let query = users.map {
            "?users=" + $0.filter { !$0.isWhitespace }.replacing("@", with: "%40").replacing("&", with: "%26")
        }
        return try await answer(
            to: HTTPClientRequest(url: address + APIRoute.sealing + (query ?? "")), as: SealingDirectory.self)
    }

    /// Stores bytes for a later send.
    func upload(_ bytes: Data, of format: MediaFormat) async throws -> ContentAnswer {
        var message = HTTPClientRequest(url: address + APIRoute.content)
        message.method = .POST
        message.headers.add(name: "content-type", value: format.rawValue)
        message.body = .bytes(ByteBuffer(bytes: bytes))
        return try await answer(to: message, as: ContentAnswer.self)
    }
}
