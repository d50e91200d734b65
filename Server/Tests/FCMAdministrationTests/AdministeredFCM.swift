import ClarionTesting
import Foundation
import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOPosix
import RichPushModel

@testable import FCMAdministration
@testable import FCMEmulation

/// A local FCM with its administration, without a socket.
struct AdministeredFCM: Sendable {
    static let account = "firebase-adminsdk@shop.iam.gserviceaccount.com"
    static let place = FCMSenderPlace(
        origin: "https://127.0.0.1:8443", keyPath: "/emulator/fcm-service-account.json", authorityPath: "/emulator/authority.pem",
        standsInForGoogle: false)

    let clock: ManualClock
    let fcm: LocalFCM
    let client: any TestClientProtocol

    static func run(_ body: @Sendable (AdministeredFCM) async throws -> Void) async throws {
        let clock = ManualClock()
        let fcm = LocalFCM(
            settings: LocalFCMSettings(identity: .init(certificatePEM: "", privateKeyPEM: "")), clock: clock,
            group: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            random: SeededGenerator(seed: 3))
        let router = ServiceRouter(options: ServiceOptions(clock: clock))
        FCMAdministrationRoutes(fcm: fcm, place: place).addRoutes(to: router)
        try await Application(router: router).test(.router) {
            try await body(AdministeredFCM(clock: clock, fcm: fcm, client: $0))
        }
    }

    func ask(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        let fields = headers.isEmpty ? [.contentType: "application/json"] : headers
        return try await client.execute(
            uri: "/fcm" + path, method: method, headers: fields, body: body.map { ByteBuffer(string: $0) })
    }

    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        let answer = try await ask(method, path, body)
        let json = try? JSONDecoder().decode(JSONValue.self, from: Data(answer.body.readableBytesView))
        return (answer.status.code, json ?? .null)
    }

    /// A project with a phone, whose registration token is returned.
    func addPhone(_ name: String = "phone") async throws -> String {
        _ = try await call(.put, "/projects/shop", "{}")
        _ = try await call(.post, "/projects/shop/keys", "{}")
        let device = try await call(.put, "/devices/\(name)", #"{"project":"shop","package":"com.example.shop"}"#).json
        return device["token"]?.asText ?? ""
    }

    func issueAccessToken() -> String {
        fcm.with {
            $0.issueAccessToken(account: Self.account, scopes: ["https://www.googleapis.com/auth/firebase.messaging"])
        }
    }

    /// Sends as a backend does; `message` has the members of the message. Returns the status.
    @discardableResult
    func send(_ message: String, bearer: String? = nil) -> Int {
        let request = GoogleRequest(
            target: "/v1/projects/shop/messages:send",
            headers: [("content-type", "application/json"), ("authorization", "Bearer \(bearer ?? issueAccessToken())")],
            body: Array(#"{"message":{\#(message)}}"#.utf8))
        return fcm.handle(request).answer.status
    }
}

extension JSONValue {
    var asList: [JSONValue] { if case .list(let list) = self { list } else { [] } }
}
