import APNsHTTP2
import APNsProtocol
import PushHub
import ServiceErrors

/// The channels of one app at APNs, with one credential.
public struct APNsAppChannels: BroadcastChannels {
    private let app: String
    private let client: APNsClient
    /// Absent where the host of the channel management is not known.
    private let management: APNsChannelClient?

    /// Creates a value. `app` is the bundle id, and `client` sends its pushes.
    public init(app: String, client: APNsClient, management: APNsChannelClient?) {
        (self.app, self.client, self.management) = (app, client, management)
    }

    public func create(keepsLatest: Bool) async throws(ServiceError) -> String {
        try await managed { client throws(APNsChannelError) in
            try await client.create(in: app, storing: keepsLatest ? .mostRecentMessage : .none).id.rawValue
        }
    }

    public func delete(_ channel: String) async throws(ServiceError) {
        try await managed { client throws(APNsChannelError) in
            try await client.delete(APNsChannel.ID(rawValue: channel), in: app)
        }
    }

    public func channels() async throws(ServiceError) -> [String] {
        try await managed { client throws(APNsChannelError) in try await client.channels(in: app).map(\.rawValue) }
    }

    public func publish(_ push: ChannelPush) async throws(ServiceError) {
        let broadcast = APNsBroadcast(
            app: app, channel: APNsChannel.ID(rawValue: push.channel), payload: push.body, priority: push.priority,
            expiration: push.expiresAt?.seconds ?? 0)
        switch await client.send(broadcast) {
        case .accepted: return
        case .rejected(let rejection): throw ServiceError(rejection)
        case .notSent(let failure), .unknown(let failure): throw ServiceError(failure)
        }
    }

    private func managed<Value: Sendable>(
        _ work: (APNsChannelClient) async throws(APNsChannelError) -> Value
    ) async throws(ServiceError) -> Value {
        guard let management else {
            throw ServiceError(
                .conflict, "apns-host is not Apple's, and apns-management-port does not say where it manages channels")
        }
        do {
            return try await work(management)
        } catch {
            throw switch error {
            case .rejected(let rejection): ServiceError(rejection)
            case .notSent(let failure), .unknown(let failure): ServiceError(failure)
            case .malformedAnswer: ServiceError(.notReady, "\(error)")
            }
        }
    }
}

extension ServiceError {
    /// What a refused request about channels means for its caller (Reference/APNs.md#4).
    fileprivate init(_ rejection: APNsRejection) {
        switch rejection.reason {
        case .channelNotRegistered, .badChannelID:
            self.init(.notFound, "APNs does not know this channel: \(rejection.reason)")
        case .cannotCreateChannelConfig:
            self.init(.quotaExceeded, "the app has as many channels as Apple allows; remove some")
        case .featureNotEnabled:
            self.init(.conflict, "the app has no broadcast capability; switch it on at Apple's developer site")
        case .payloadTooLarge: self.init(.payloadTooLarge, "APNs refuses the push: \(rejection.reason)")
        default:
            // The operator may replace a wrong credential, so another try may help.
            self.init(.notReady, "APNs refuses the request: \(rejection.reason) (\(rejection.status))")
        }
    }

    fileprivate init(_ failure: APNsFailure) {
        self.init(.notReady, "APNs gave no answer: \(OutcomeReason.words(of: failure.rawValue))")
    }
}
