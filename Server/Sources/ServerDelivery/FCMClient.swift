import APNsHTTP2
import APNsProtocol
import AsyncHTTPClient
import FCMDelivery
import FCMProtocol
import Logging
import NIOCore
import NIOSSL
import PushHub
import RichPushModel
import ServerSettings
import ServiceErrors
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Posts messages to FCM over the connections of the push client, and asks for access tokens by an ordinary HTTP client. All hubs share
/// it: to one host go many requests over few connections.
final class FCMClient: FCMSending {
    /// Connections to FCM. Google takes 100 requests at once on each.
    private static let connections = 16
    private static let answerBytes = 16_384
    /// Of the token endpoint. For FCM the word of the push client stands.
    private static let noAnswer = "no answer in time"

    /// Not there on a system without certificates of public authorities, which may not need it.
    private let messages: Result<HTTP2PostClient, APNsConfigurationFault>
    private let endpoint: String
    private let tokens: HTTPClient
    private let clock: any ServiceClock

    /// Throws `not-ready` when the certificates of the settings cannot be read, or an account is set and the system has none.
    init(
        _ settings: Settings.FCM, clock: any ServiceClock, group: any EventLoopGroup, logger: Logger
    ) throws(ServiceError) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        var trust = APNsClientConfiguration.Trust.system
        if let path = settings.trustRootsPath {
            do {
                let pem = try String(contentsOfFile: path, encoding: .utf8)
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))]
                trust = .additional(pem: pem)
            } catch { throw ServiceError(.notReady, "fcm-trust-roots-path: the certificates in \(path) cannot be read") }
        }
        messages = Result { () throws(APNsConfigurationFault) in
            try HTTP2PostClient(
                to: APNsClientConfiguration.Endpoint(host: settings.hostOrGoogle, port: settings.port), of: "FCM", trust: trust,
                connections: Self.connections, answerBytes: Self.answerBytes, eventLoopGroup: group, logger: logger)
        }
        if case .failure(let fault) = messages, settings.account != nil {
            throw ServiceError(.notReady, "the client of FCM: \(fault)")
        }
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = tls
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        tokens = HTTPClient(eventLoopGroup: group, configuration: configuration)
        (self.clock, endpoint) = (clock, settings.endpoint)
    }

    /// Of the connections that messages take; `nil` where there can be none.
    var metrics: APNsClientMetrics? { try? messages.get().metrics }

    func post(_ request: FCMRequest, within deadline: Duration) async -> FCMReply {
        guard request.url.hasPrefix(endpoint + "/") else {
            // The client's own time limit ends with the head of the answer.
            return await clock.attempt(within: deadline, orElse: .unknown(reason: Self.noAnswer)) {
                await self.ask(request, within: deadline)
            }
        }
        let client: HTTP2PostClient
        switch messages {
        case .success(let made): client = made
        case .failure(let fault): return .notSent(reason: "\(fault)")
        }
        let path = String(request.url.dropFirst(endpoint.count))
        switch await client.post(request.body, to: path, headers: request.headers, within: deadline) {
        case .answered(let answer):
            return .answered(
                FCMAnswer(status: answer.status, retryAfter: answer.retryAfter, body: answer.body, now: clock.now))
        case .notSent(let failure): return .notSent(reason: failure.rawValue)
        case .unknown(let failure): return .unknown(reason: failure.rawValue)
        }
    }

    private func ask(_ request: FCMRequest, within deadline: Duration) async -> FCMReply {
        var message = HTTPClientRequest(url: request.url)
        message.method = .POST
        for header in request.headers { message.headers.add(name: header.name, value: header.value) }
        message.body = .bytes(ByteBuffer(bytes: request.body))
        do {
            let answer = try await tokens.execute(message, timeout: .milliseconds(max(1, deadline.wholeMilliseconds)))
            return .answered(
                FCMAnswer(
                    status: Int(answer.status.code), retryAfter: answer.headers.first(name: "retry-after"),
                    body: await Self.beginning(of: answer.body), now: clock.now))
        } catch {
            let failure = OutboundFailure(error)
            let reason = failure.reason(late: Self.noAnswer)
            return failure.isBeforeSending ? .notSent(reason: reason) : .unknown(reason: reason)
        }
    }

    /// The status was said before the body, so one that breaks off is taken as far as it came.
    private static func beginning(of body: HTTPClientResponse.Body) async -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await part in body {
                bytes += part.readableBytesView.prefix(answerBytes - bytes.count)
                if bytes.count == answerBytes { break }
            }
        } catch { return bytes }
        return bytes
    }

    /// What was posted to FCM gets its answer until the limit.
    func shutDown(within limit: Duration) async {
        if case .success(let client) = messages { await client.shutdown(within: limit) }
        try? await tokens.shutdown()
    }
}

/// The service accounts with which hubs send to Android: their own, else that of the node.
final class HubFCMAccounts: FCMCredentials {
    /// The most accounts that are kept; beyond that all are read anew.
    private static let capacity = 1_000

    private let catalog: HubCatalog
    private let node: FCMServiceAccount?
    private let tokenURL: String
    /// By the sealed credentials.
    private let read = Mutex<[String: FCMServiceAccount]>([:])

    /// - Parameters:
    ///   - node: for hubs without an account of their own.
    ///   - tokenURL: where the accounts of hubs get access tokens, since Azure's form of a credential does not name the place.
    init(_ catalog: HubCatalog, node: FCMServiceAccount?, tokenURL: String) {
        (self.catalog, self.node, self.tokenURL) = (catalog, node, tokenURL)
    }

    func credential(for hub: HubID) async -> FCMCredential {
        do {
            guard let own = try await catalog.credential(of: hub, for: .fcmv1), case .fcm(let credential) = own.value else {
                return node.map(FCMCredential.account) ?? .none(.unsupported)
            }
            return .account(try account(credential, own.sealed))
        } catch is FCMServiceAccountFault {
            return .none(.misconfigured(reason: "the hub's credential cannot be used"))
        } catch {
            return .none(.notSent(reason: "storage is unreachable"))
        }
    }

    private func account(_ credential: HubFCMCredential, _ sealed: String) throws(FCMServiceAccountFault) -> FCMServiceAccount {
        if let known = read.withLock({ $0[sealed] }) { return known }
        let account = try FCMServiceAccount(credential, tokenURL: tokenURL)
        read.withLock { read in
            if read.count >= Self.capacity { read = [:] }
            read[sealed] = account
        }
        return account
    }
}

extension FCMServiceAccount {
    /// Throws what is wrong, by Azure's names.
    package init(
        _ credential: HubFCMCredential, tokenURL: String = FCMServiceAccount.googleTokenURL
    ) throws(FCMServiceAccountFault) {
        try self.init(
            projectID: credential.projectID, privateKey: credential.privateKey, clientEmail: credential.clientEmail,
            keyID: credential.keyID, tokenURL: tokenURL)
    }
}
