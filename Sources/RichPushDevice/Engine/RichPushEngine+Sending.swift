import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RichPushEngine {
    /// Sends a push, as the rich push tutorial's button does: without a request it is that call without a body. Needs the
    /// password, since the narrow credential may not send (`RichPushConfiguration.keepsPasswordForSending`).
    ///
    /// Returns the number of the new notification, if the server told it.
    @discardableResult
    public func sendPush(_ request: SendRequest? = nil) async throws(RichPushError) -> RichID? {
        let (session, authorization) = try sender()
        var call = BackendCall(method: "POST", path: APIRoute.notifications)
        if let request { call = try .json("POST", APIRoute.notifications, request) }
        call.headers["idempotency-key"] = device.identifiers.newIdentifier()
        let deadline = Deadline(device.clock, after: configuration.limits.callDeadline)
        let response = try await client.call(call, as: authorization, within: deadline)
        guard isCurrent(session) else { throw .notSignedIn }
        let answer = try? JSONDecoder().decode(SendAnswer.self, from: response.body)
        device.log.record(DeviceEvent(.sent, answer?.id))
        return answer?.id
    }

    /// Stores content on the server, to be named in `contentID` of a later send.
    /// `fileName` is the name that its readers see; absent leaves it without one.
    public func upload(
        _ content: Data, mediaType: String, fileName: String? = nil
    ) async throws(RichPushError) -> ContentAnswer {
        let (_, authorization) = try sender()
        var call = BackendCall(method: "POST", path: APIRoute.content, body: content, mediaType: mediaType)
        if let fileName { call.headers["x-file-name"] = Self.escaped(fileName) }
        let deadline = Deadline(device.clock, after: configuration.limits.openDeadline)
        return try await client.value(ContentAnswer.self, of: call, as: authorization, within: deadline)
    }

    private func sender() throws(RichPushError) -> (Session, Authorization) {
        guard let session = activeSession else { throw self.session == nil ? .notSignedIn : .credentialRejected }
        return (session, try passwordAuthorization(in: session))
    }
}
