import APNsEmulation
import Foundation
import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOPosix

@testable import LabServices

/// The administration of a local APNs without a socket.
protocol AdministrationCalling {}

extension AdministrationCalling {
    func withAdministration(
        _ body: @Sendable (LocalAPNs, any TestClientProtocol) async throws -> Void
    ) async throws {
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(), clock: .system, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let router = ServiceRouter(options: ServiceOptions())
        EmulatorRoutes(apns: apns).addRoutes(to: router)
        try await Application(router: router).test(.router) { try await body(apns, $0) }
    }

    func send(
        _ client: any TestClientProtocol, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> TestResponse {
        try await client.execute(
            uri: path, method: method, headers: [.contentType: "application/json"], body: body.map { ByteBuffer(string: $0) })
    }

}
