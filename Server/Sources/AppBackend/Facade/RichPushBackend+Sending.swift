import RichPushModel
import ServiceErrors

extension RichPushBackend {
    /// The tutorial's send: "Check this image out!" with the configured picture, silently, to the caller's own devices.
    public func sendDefaultPicture(for principal: Principal) async throws -> SendAnswer {
        throw ServiceError(.notReady)
    }

    /// The predecessor's send button: the plain alert "From NAME: text" to the devices of `user`. `platform` must be `apns`.
    public func sendText(
        _ text: String, platform: String, toUser user: String, for principal: Principal
    ) async throws -> SendAnswer {
        throw ServiceError(.notReady)
    }

    /// Sends. With an idempotency key (1 to 128 visible ASCII characters, scoped to the user) a repeat of the same request gets
    /// the first answer; the same key with another request throws `idempotency-mismatch`.
    ///
    /// Throws `invalid-field`, `invalid-audience`, `forbidden`, `payload-too-large`; `not-found` for content that is not the
    /// caller's; `outcome-unknown` when the send is stored but the hub did not confirm it yet: it will be sent.
    public func send(
        _ request: SendRequest, idempotencyKey: String?, for principal: Principal
    ) async throws -> SendAnswer {
        throw ServiceError(.notReady)
    }

    /// Recalls what the caller sent (an admin: anything): the content is gone, it leaves every inbox, the push is cancelled.
    public func recall(_ id: RichID, for principal: Principal) async throws {
        throw ServiceError(.notReady)
    }

    /// Where a send of the caller stands.
    public func status(of id: RichID, for principal: Principal) async throws -> SendStatus {
        throw ServiceError(.notReady)
    }
}
