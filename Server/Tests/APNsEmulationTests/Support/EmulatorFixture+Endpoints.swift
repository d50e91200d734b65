import NIOSSL

@testable import APNsEmulation

/// The three interfaces of the reason table (Reference/APNs.md#4).
enum APNsEndpoint: String, Sendable, CaseIterable {
    case device, broadcast, management
}

extension EmulatorFixture {
    static let creation = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

    /// A good request: an alert push, a broadcast on the channel, or the creation of a channel.
    func head(for endpoint: APNsEndpoint) -> APNsRequest.Head {
        guard endpoint != .device else { return head() }
        var head = APNsRequest.Head()
        head.add(name: ":method", value: "POST")
        head.add(name: "authorization", value: authorization)
        head.add(name: "apns-channel-id", value: channel)
        guard endpoint == .broadcast else {
            head.add(name: ":path", value: "/1/apps/\(Self.bundleID)/channels")
            return head
        }
        head.add(name: ":path", value: "/4/broadcasts/apps/\(Self.bundleID)")
        head.add(name: "apns-expiration", value: "0")
        head.add(name: "apns-priority", value: "5")
        head.add(name: "apns-push-type", value: "liveactivity")
        return head
    }

    /// Sends through one of the endpoints, on the fixture's one connection.
    mutating func send(
        _ endpoint: APNsEndpoint, body: String? = nil, _ change: (inout APNsRequest.Head) -> Void = { _ in }
    ) -> Verdict {
        var head = head(for: endpoint)
        change(&head)
        let body = body ?? (endpoint == .management ? Self.creation : #"{"aps":{"event":"update"}}"#)
        let request = APNsRequest(
            head: head, body: Array(body.utf8), service: endpoint == .management ? .channelManagement : .provider)
        return apns.core.judge(request, credentials: &credentials)
    }

    /// The connection showed a client certificate.
    mutating func show(_ request: ClientCertificateRequest) throws {
        let issued = try apns.issueClientCertificate(request)
        let bytes = try NIOSSLCertificate(bytes: Array(issued.certificatePEM.utf8), format: .pem).toDERBytes()
        credentials.certificate = apns.authority.read(bytes)
    }
}
