import APNsProtocol
import Logging
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes, reads, lists and deletes the broadcast channels of an app (Reference/APNs.md#5-2), on the management host of the
/// environment.
///
/// ```swift
/// let channel = try await channels.create(in: "com.example.app", storing: .mostRecentMessage)
/// ```
///
/// An app has at most 10,000 channels in each environment. What APNs refuses, and what could not be settled, is thrown as
/// `APNsChannelError`.
public final class APNsChannelClient: Sendable {
    private let client: APNsClient

    /// Creates a client. Nothing is connected yet.
    ///
    /// - Parameter configuration: as for pushes; its `management` endpoint is used, and one connection.
    /// - Throws: what is wrong with the configuration.
    public convenience init(
        configuration: APNsClientConfiguration, eventLoopGroup: any EventLoopGroup, logger: Logger
    ) throws(APNsConfigurationFault) {
        var configuration = configuration
        configuration.endpoint = configuration.management
        configuration.limits.connections = 1
        self.init(try APNsClient(configuration: configuration, eventLoopGroup: eventLoopGroup, logger: logger))
    }

    init(_ client: APNsClient) { self.client = client }

    /// Creates a channel. After `unknown` the channel may exist all the same; the list shows it.
    public func create(
        in app: String, storing policy: APNsChannel.StoragePolicy
    ) async throws(APNsChannelError) -> APNsChannel {
        let response = try await perform(app) { .createChannel(in: $0, policy) }
        guard let id = response.channelID else { throw .malformedAnswer }
        return APNsChannel(id: id, storagePolicy: policy)
    }

    /// Reads what a channel keeps.
    public func channel(_ id: APNsChannel.ID, in app: String) async throws(APNsChannelError) -> APNsChannel {
        let response = try await perform(app, channel: id) { .channel(id, in: $0, .get) }
        guard let content = try? JSONDecoder().decode(Description.self, from: Data(response.body)),
            let policy = APNsChannel.StoragePolicy(rawValue: content.policy)
        else { throw .malformedAnswer }
        return APNsChannel(id: id, storagePolicy: policy)
    }

    /// Deletes a channel permanently. Messages that APNs has stored are not recalled.
    public func delete(_ id: APNsChannel.ID, in app: String) async throws(APNsChannelError) {
        _ = try await perform(app, channel: id) { .channel(id, in: $0, .delete) }
    }

    /// The ids of all channels of the app.
    public func channels(in app: String) async throws(APNsChannelError) -> [APNsChannel.ID] {
        let response = try await perform(app) { .allChannels(in: $0) }
        guard let list = try? JSONDecoder().decode(List.self, from: Data(response.body)) else { throw .malformedAnswer }
        return list.channels
    }

    /// Ends the client in order.
    public func shutdown(within limit: Duration? = nil) async { await client.shutdown(within: limit) }

    private struct List: Decodable {
        var channels: [APNsChannel.ID]
    }

    private struct Description: Decodable {
        var policy: Int

        enum CodingKeys: String, CodingKey { case policy = "message-storage-policy" }
    }

    private func perform(
        _ app: String, channel: APNsChannel.ID? = nil, _ request: (String) -> HTTP2Request
    ) async throws(APNsChannelError) -> (channelID: APNsChannel.ID?, body: [UInt8]) {
        do throws(APNsPushFault) {
            try APNsBroadcastRules.check(app: app)
            if let channel { try APNsBroadcastRules.check(channel: channel) }
        } catch {
            throw .rejected(error.rejection)
        }
        let (outcome, answer) = await client.perform(request(app))
        switch outcome {
        case .accepted: return (answer.channelID, answer.body)
        case .rejected(let rejection): throw .rejected(rejection)
        case .notSent(let failure): throw .notSent(failure)
        case .unknown(let failure): throw .unknown(failure)
        }
    }
}

/// Why a request about channels gave no result.
public enum APNsChannelError: Error, Hashable, Sendable {
    /// APNs refused it, or would have: the reason and what to do are in the rejection.
    case rejected(APNsRejection)
    /// Provably not processed: asking again is safe.
    case notSent(APNsFailure)
    /// It may have been processed: after a create, look at the list before creating again.
    case unknown(APNsFailure)
    /// APNs answered with success, but not in the documented form.
    case malformedAnswer
}

extension APNsChannelError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let rejection): "APNs refused the request: \(rejection.reason) (\(rejection.status))"
        case .notSent(let failure): "the request did not reach APNs: \(failure.rawValue)"
        case .unknown(let failure): "it is not known whether APNs processed the request: \(failure.rawValue)"
        case .malformedAnswer: "APNs answered in an unknown form"
        }
    }
}
