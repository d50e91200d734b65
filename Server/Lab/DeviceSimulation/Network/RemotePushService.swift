import AsyncHTTPClient
import NIOCore
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The push service as a simulated phone sees it. A composition adapts the local APNs to it.
public protocol SimulatedPushService: Sendable {
    /// A device token on a device, hexadecimal: that of the app has an empty name, others of its topic have one each. The same until it is
    /// unregistered, or another is asked for by `isNew`.
    func register(device: String, topic: String, name: String, isNew: Bool) async throws -> String
    /// The pushes for a device from now on, beginning with what was stored while it was away. A second connection of a device
    /// ends the first. The stream ends when the service does.
    func connect(device: String) async throws -> AsyncStream<IncomingPush>
    /// The app left the device, the device is another one, or what the token moved is over: it is good no longer, and the next `register`
    /// gives another.
    func unregister(device: String, topic: String, name: String) async
    /// The device follows a channel of an app. Throws when the app has no such channel.
    func follow(device: String, channel: String, app: String) async throws
    /// The device follows the channel no longer.
    func unfollow(device: String, channel: String, app: String) async
    /// The device goes away; pushes are stored from now on.
    func disconnect(device: String) async
}

extension SimulatedPushService {
    /// The token of the app.
    public func register(device: String, topic: String) async throws -> String {
        try await register(device: device, topic: topic, name: "", isNew: false)
    }

    /// The token of the app is good no longer.
    func unregister(device: String, topic: String) async { await unregister(device: device, topic: topic, name: "") }
}

/// A push as it reaches a device.
public struct IncomingPush: Hashable, Sendable {
    /// The JSON, untouched.
    public var payload: Data
    /// `alert` or `background`.
    public var pushType: String
    public var apnsID: String
    public var collapseID: String?
    /// 10 or less.
    public var priority: Int
    /// The app it is for.
    public var topic: String
    /// The device token that it was sent to, in lower case; empty where that is not known, and for a push over a channel.
    public var token: String
    /// The channel that it was sent to.
    public var channel: String?
    /// Counts up in the order of arrival, where that is known.
    var order = 0

    /// Describes a push.
    public init(
        payload: Data, pushType: String, apnsID: String, collapseID: String?, topic: String, token: String = "",
        channel: String? = nil, priority: Int = 10
    ) {
        self.priority = priority
        self.payload = payload
        self.pushType = pushType
        self.apnsID = apnsID
        self.collapseID = collapseID
        self.topic = topic
        self.token = token.lowercased()
        self.channel = channel
    }
}

/// The device side of a local APNs in another process, over its administration (`clarion emulator`).
public struct RemotePushService: SimulatedPushService {
    /// Why it failed, as text.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String
        /// Nothing answers there.
        public var isUnreachable = false
    }

    private struct TokenRequest: Encodable {
        var topic: String
        var name: String
        var rotate: Bool
    }

    private struct TokenAnswer: Decodable {
        var token: String
    }

    private struct PushWire: Decodable {
        var apnsId: String
        var token: String?
        var topic: String
        var pushType: String?
        var collapseId: String?
        var channelId: String?
        var priority: Int?
        var payload: String
    }

    /// The most that is read of one event: a payload of APNs is small.
    private static let eventLimit = 64 << 10
    /// How long an answer may take, to its last byte.
    private static let answerLimit: Duration = .seconds(10)

    private let address: String
    private let client: HTTPClient

    /// - Parameter address: for example `http://127.0.0.1:2198`, or `…/production` for that environment.
    public init(address: String, client: HTTPClient) {
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        self.client = client
    }

    public func register(device: String, topic: String, name: String, isNew: Bool) async throws -> String {
        var request = HTTPClientRequest(url: "\(address)/devices/\(device)/tokens")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(TokenRequest(topic: topic, name: name, rotate: isNew))))
        let data = try await answer(to: request)
        guard let answer = try? JSONDecoder().decode(TokenAnswer.self, from: data) else {
            throw Fault(description: "\(address) does not answer as a local APNs does")
        }
        return answer.token
    }

    public func unregister(device: String, topic: String, name: String) async {
        guard let token = try? await register(device: device, topic: topic, name: name, isNew: false) else { return }
        var request = HTTPClientRequest(url: "\(address)/tokens/\(token)")
        request.method = .DELETE
        _ = try? await answer(to: request)
    }

    private struct Subscription: Encodable {
        var bundleId: String
        var channelId: String
    }

    public func follow(device: String, channel: String, app: String) async throws {
        _ = try await answer(to: subscription(device, Subscription(bundleId: app, channelId: channel)))
    }

    public func unfollow(device: String, channel: String, app: String) async {
        guard var request = try? subscription(device, Subscription(bundleId: app, channelId: channel)) else { return }
        request.method = .DELETE
        _ = try? await answer(to: request)
    }

    private func subscription(_ device: String, _ subscription: Subscription) throws -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(address)/devices/\(device)/channels")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(subscription)))
        return request
    }

    /// Nothing to do: the reader ends the connection, and a device without one is offline.
    public func disconnect(device: String) async {}

    public func connect(device: String) async throws -> AsyncStream<IncomingPush> {
        let request = HTTPClientRequest(url: "\(address)/devices/\(device)/pushes")
        let response: HTTPClientResponse
        do { response = try await client.execute(request, timeout: .hours(24 * 365)) } catch { throw fault(error) }
        guard response.status == .ok else { throw Fault(description: "\(address) answered \(response.status.code)") }
        return AsyncStream { continuation in
            let reading = Task {
                try? await Self.read(response.body) { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    private static func read(_ body: HTTPClientResponse.Body, _ take: (IncomingPush) -> Void) async throws {
        var waiting = Data()
        for try await chunk in body {
            waiting.append(contentsOf: chunk.readableBytesView)
            while let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: waiting[..<end], as: UTF8.self)
                waiting = Data(waiting[waiting.index(after: end)...])
                if let push = push(in: line) { take(push) }
            }
            guard waiting.count <= eventLimit else { return }
        }
    }

    private static func push(in line: String) -> IncomingPush? {
        guard line.hasPrefix("data: "),
            let wire = try? JSONDecoder().decode(PushWire.self, from: Data(line.dropFirst(6).utf8))
        else { return nil }
        return IncomingPush(
            payload: Data(wire.payload.utf8), pushType: wire.pushType ?? "alert", apnsID: wire.apnsId,
            collapseID: wire.collapseId, topic: wire.topic, token: wire.token ?? "", channel: wire.channelId,
            priority: wire.priority ?? 10)
    }

    /// The client's own limit ends with the head of the answer; this one counts for the body too.
    private func answer(to request: HTTPClientRequest) async throws -> Data {
        try await withThrowingTaskGroup(of: Data.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await wholeAnswer(to: request) }
            group.addTask {
                try await SystemClock().sleep(for: Self.answerLimit)
                throw Fault(description: "the local APNs at \(address) did not answer in time", isUnreachable: true)
            }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    private func wholeAnswer(to request: HTTPClientRequest) async throws -> Data {
        let response: HTTPClientResponse
        let body: ByteBuffer
        do {
            response = try await client.execute(request, timeout: .seconds(60))
            body = try await response.body.collect(upTo: Self.eventLimit)
        } catch { throw fault(error) }
        let data = Data(body.readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            let problem = try? JSONDecoder().decode(Problem.self, from: data)
            throw Fault(description: problem.map { $0.detail ?? $0.title } ?? "\(address) answered \(response.status.code)")
        }
        return data
    }

    private func fault(_ error: any Error) -> Fault {
        Fault(description: "no local APNs answers at \(address); is `clarion emulator` running?", isUnreachable: true)
    }
}
