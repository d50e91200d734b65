import ClarionTesting
import Crypto
import Foundation
import RichPushModel
import WebPushProtocol
import WireText

@testable import WebPushEmulation

/// A push service without I/O, with a sender and as many browsers as a test wants.
struct PushServiceFixture {
    static let origin = "http://127.0.0.1:8090"

    let clock = ManualClock()
    let sender = TestSender()
    var state: PushServiceState

    init(_ adjust: (inout LocalWebPushBounds) -> Void = { _ in }) {
        var bounds = LocalWebPushBounds()
        adjust(&bounds)
        state = PushServiceState(origin: Self.origin, bounds: bounds, random: SeededGenerator(seed: 1))
    }

    // MARK: A browser as its texts

    /// The texts that the service sends on a connection, and how it closes it.
    mutating func say(_ text: String, on connection: Int) -> [BrowserInstruction.Action] {
        state.receive(text, on: connection, now: clock.now).filter { $0.connection == connection }.map(\.action)
    }

    /// Connects, and returns the id that the service gave and the messages that it sent with its answer.
    mutating func connect(uaid: String? = nil) -> (connection: Int, uaid: String, messages: [Notification]) {
        let connection = state.open()
        let name = uaid.map { #","uaid":"\#($0)""# } ?? ""
        let actions = say(#"{"messageType":"hello","use_webpush":true\#(name)}"#, on: connection)
        let answer = actions.first.map(Self.members) ?? [:]
        return (connection, Self.text(answer["uaid"]), actions.dropFirst().compactMap(Notification.init))
    }

    /// Registers a channel and returns its endpoint.
    mutating func register(_ channel: String = Self.channel(1), on connection: Int, withKey: Bool = true) -> String {
        let key = withKey ? #","key":"\#(sender.publicText)=""# : ""
        let actions = say(#"{"messageType":"register","channelID":"\#(channel)"\#(key)}"#, on: connection)
        return Self.text(actions.first.map(Self.members)?["pushEndpoint"])
    }

    /// Acknowledges, and returns what follows.
    mutating func acknowledge(_ messages: [Notification], on connection: Int, code: Int = 100) -> [Notification] {
        let updates = messages.map { #"{"channelID":"\#($0.channelID)","version":"\#($0.version)","code":\#(code)}"# }
        let text = #"{"messageType":"ack","updates":[\#(updates.joined(separator: ","))]}"#
        return say(text, on: connection).compactMap(Notification.init)
    }

    // MARK: A sender

    /// Posts, and returns the answer and what the browsers get.
    mutating func post(_ request: SenderRequest) -> (answer: SenderAnswer?, messages: [Notification]) {
        let vapid = request.header("authorization").flatMap(VAPIDStatement.init(authorization:))
        let verdict = state.judge(request, vapid: vapid, now: clock.now)
        return (verdict.answer, verdict.instructions.map(\.action).compactMap(Notification.init))
    }

    /// Posts a good message and returns its id.
    @discardableResult
    mutating func push(_ endpoint: String, ttl: String = "60", topic: String? = nil) -> String {
        var request = sender.request(endpoint, now: clock.now)
        request.set("ttl", ttl)
        if let topic { request.set("topic", topic) }
        let location = post(request).answer?.headers.first { $0.name == "location" }?.value ?? ""
        return String(location.split(separator: "/").last ?? "")
    }

    // MARK: Texts

    static func channel(_ number: Int) -> String {
        "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - "\(number)".count) + "\(number)"
    }

    static func members(_ action: BrowserInstruction.Action) -> [String: JSONValue] {
        guard case .send(let text) = action else { return [:] }
        return (try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))) ?? [:]
    }

    static func text(_ value: JSONValue?) -> String { if case .text(let text)? = value { text } else { "" } }
}

/// A message as a browser sees it.
struct Notification: Hashable {
    var channelID: String
    var version: String
    var hasData: Bool

    init?(_ action: BrowserInstruction.Action) {
        let members = PushServiceFixture.members(action)
        guard members["messageType"] == .text("notification") else { return nil }
        channelID = PushServiceFixture.text(members["channelID"])
        version = PushServiceFixture.text(members["version"])
        hasData = members["data"] != nil && members["headers"] == .object(["encoding": .text("aes128gcm")])
    }
}

extension SenderRequest {
    /// Replaces a header, or removes it.
    mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name == name }
        if let value { headers.append((name, value)) }
    }

    /// Replaces the body.
    mutating func set(_ bytes: [UInt8]) { (body, bodySize) = (bytes, bytes.count) }
}

/// A sender of Web Push whose every part can be wrong. It has no code of the service.
struct TestSender {
    let key = P256.Signing.PrivateKey()
    /// The browser that it encrypts for.
    let receiver = P256.KeyAgreement.PrivateKey()
    let secret = [UInt8](repeating: 3, count: 16)

    var publicText: String { Base64URL.text(of: Array(key.publicKey.x963Representation)) }

    /// A message that is accepted.
    func request(_ endpoint: String, _ message: String = "hello", now: Timestamp) -> SenderRequest {
        SenderRequest(
            path: String(endpoint.dropFirst(PushServiceFixture.origin.count)),
            headers: [
                ("authorization", authorization(now: now)), ("ttl", "60"), ("urgency", "high"), ("content-encoding", "aes128gcm"),
            ], body: (try? body(message)) ?? [])
    }

    func body(_ message: String) throws -> [UInt8] {
        let subscription = try WebPushSubscription(
            endpoint: "https://push.example.net/1",
            publicKey: Base64URL.text(of: Array(receiver.publicKey.x963Representation)), secret: Base64URL.text(of: secret))
        return try WebPushEncryption.body(of: Array(message.utf8), for: subscription)
    }

    /// A VAPID header. Claims are JSON, and `nil` leaves one out.
    func authorization(
        now: Timestamp, header: String = #"{"typ":"JWT","alg":"ES256"}"#, change: [String: String?] = [:],
        signer: P256.Signing.PrivateKey? = nil,
        origin: String = PushServiceFixture.origin
    ) -> String {
        var claims: [String: String] = [
            "aud": "\"\(origin)\"", "exp": "\(now.seconds + 3_600)", "sub": #""mailto:push@example.com""#,
        ]
        for (name, value) in change { claims[name] = value }
        let payload = "{" + claims.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        let signed = [header, payload].map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
        let signature = try? (signer ?? key).signature(for: Array(signed.utf8)).rawRepresentation
        return "vapid t=\(signed).\(Base64URL.text(of: Array(signature ?? Data()))), k=\(publicText)"
    }
}
