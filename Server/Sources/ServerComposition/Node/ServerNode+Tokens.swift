import AsyncHTTPClient
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import RichPushModel
import ServerSettings
import ServerStorage
import TrustedIssuers

extension ServerNode {
    /// Verifies tokens of the issuers of the settings; `nil` when there are none, and on a node that answers no requests. Throws every
    /// problem of the issuers' file.
    static func tokens(
        _ settings: Settings, _ storage: NodeStorage, _ clock: any ServiceClock, _ group: any EventLoopGroup, _ logger: Logger
    ) async throws -> TokenVerifier? {
        guard settings.role.answers, let issuers = try await settings.issuers?.issuers() else { return nil }
        for issuer in issuers {
            logger.notice("Tokens of an issuer sign users in", metadata: ["issuer": "\(issuer.issuer)"])
        }
        return await TokenVerifier(
            issuers: issuers, fetching: KeySetFetcher(group: group, clock: clock), store: storage.keySetStore, clock: clock,
            logger: logger)
    }

    /// Where people sign in to the console; `nil` without a provider in the settings, and on a node that has no console. Throws every
    /// problem of the provider's file.
    static func provider(
        _ settings: Settings, _ storage: NodeStorage, _ clock: any ServiceClock, _ group: any EventLoopGroup, _ logger: Logger
    ) async throws -> ProviderSignIn? {
        guard settings.role.answers, !settings.console.isOff, let provider = try settings.consoleProvider?.provider() else {
            return nil
        }
        logger.notice("A provider signs people in to the console", metadata: ["issuer": "\(provider.issuer.issuer)"])
        return await ProviderSignIn(
            at: provider, back: settings.consoleAddress + "/sign-in/return",
            fetching: KeySetFetcher(group: group, clock: clock), store: storage.keySetStore, clock: clock, logger: logger)
    }
}

extension TokenVerifier {
    /// What `/readyz` says about the keys. An outage of an issuer ends no sign-ins, and another node could fetch no more, so it does
    /// not make the node unready. No address: the answer is public.
    ///
    /// - Parameter name: what the issuers are for.
    func notes(_ name: String) -> [String] {
        let standings = standings
        let missing = standings.count { $0.state == .missing }
        let outlived = standings.count { $0.state == .outlived }
        var notes: [String] = []
        let all = standings.count
        if missing > 0 { notes.append("\(name): no keys of \(missing) of \(all) issuers, whose tokens are refused") }
        if outlived > 0 { notes.append("\(name): the keys of \(outlived) of \(all) issuers cannot be renewed") }
        return notes
    }
}

/// Fetches the key sets of issuers, and redeems the codes of the console's provider. Both are rare, so each has a client of its own, which
/// leaves no open connection behind.
struct KeySetFetcher: CodeRedeeming {
    let group: any EventLoopGroup
    let clock: any ServiceClock

    func fetch(_ address: WebAddress) async throws(KeySetFault) -> FetchedDocument {
        try await answer(to: HTTPClientRequest(url: address.text))
    }

    func post(
        _ form: String, to address: WebAddress, authorization: String?
    ) async throws(KeySetFault) -> FetchedDocument {
        var request = HTTPClientRequest(url: address.text)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        request.body = .bytes(ByteBuffer(string: form))
        return try await answer(to: request)
    }

    private func answer(to request: HTTPClientRequest) async throws(KeySetFault) -> FetchedDocument {
        let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: Self.configuration)
        let result: Result<FetchedDocument, KeySetFault>
        do {
            result = .success(try await withinTime { try await Self.document(request, by: client) })
        } catch { result = .failure(Self.fault(of: error)) }
        try? await client.shutdown()
        return try result.get()
    }

    private static var configuration: HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = tls
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    private static func document(_ request: HTTPClientRequest, by client: HTTPClient) async throws -> FetchedDocument {
        var request = request
        request.headers.add(name: "Accept", value: "application/json")
        let answer = try await client.execute(request, timeout: .seconds(5))
        let body = try await answer.body.collect(upTo: KeySetLimits.documentBytes)
        return FetchedDocument(
            status: Int(answer.status.code), headers: answer.headers.map { (name: $0.name, value: $0.value) },
            body: Array(body.readableBytesView))
    }

    /// Ends the work after the time that a fetch may take, whatever part of it is slow.
    private func withinTime(_ work: @escaping @Sendable () async throws -> FetchedDocument) async throws -> FetchedDocument {
        try await withThrowingTaskGroup(of: FetchedDocument.self) { group in
            group.addTask(operation: work)
            group.addTask { [clock] in
                try await clock.sleep(for: KeySetLimits.fetchTime)
                throw KeySetFault("no answer within \(KeySetLimits.fetchTime.components.seconds) seconds")
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// Nothing of an error of the client is shown but its kind.
    private static func fault(of error: any Error) -> KeySetFault {
        switch error {
        case let fault as KeySetFault: fault
        case is NIOTooManyBytesError: KeySetFault("the answer has more than \(KeySetLimits.documentBytes) bytes")
        case is NIOSSLError, is NIOSSLExtraError: KeySetFault("the server's certificate is not trusted")
        case is NIOConnectionError: KeySetFault("nothing answers at the address")
        case is CancellationError: KeySetFault("the fetch was ended")
        case let error as HTTPClientError where [.deadlineExceeded, .readTimeout, .connectTimeout].contains(error):
            KeySetFault("no answer within \(KeySetLimits.fetchTime.components.seconds) seconds")
        default: KeySetFault("the connection broke")
        }
    }
}
