import ClarionTesting
import Crypto
import CryptoExtras
import Foundation
import RichPushModel
import WireText

@testable import FCMEmulation

/// A local FCM without I/O: two projects, a service account with a key, and phones as many as a test wants.
struct FCMFixture {
    static let project = "clarion-shop"
    static let account = "sender@clarion-shop.iam.gserviceaccount.com"
    static let package = "com.example.shop"
    static let messaging = "https://www.googleapis.com/auth/firebase.messaging"
    /// One for all tests: to make one takes a while.
    // The library makes a key of this size whenever it is asked; without one no test here means anything.
    static let key = try! _RSA.Signing.PrivateKey(keySize: .bits2048)

    let clock = ManualClock()
    var state: FCMServiceState
    /// What `Authorization` has.
    var bearer = ""

    init(_ adjust: (inout LocalFCMSettings) -> Void = { _ in }) throws {
        var settings = LocalFCMSettings(identity: .init(certificatePEM: "", privateKeyPEM: ""), port: 8_443)
        adjust(&settings)
        state = FCMServiceState(settings: settings, clock: clock, random: SeededGenerator(seed: 1))
        _ = try state.addProject(Self.project, number: "100200300400")
        _ = try state.addProject("another-shop", number: nil)
        try state.changeProject(Self.project) { project in
            project.accounts[Self.account] = .init(maySend: true, keys: ["key-1": Self.key.publicKey.pemRepresentation])
        }
        renewBearer()
        try addPhone("phone")
    }

    /// Takes another access token, as after an hour.
    mutating func renewBearer() {
        bearer = state.issueAccessToken(account: Self.account, scopes: [Self.messaging])
    }

    // MARK: Phones

    mutating func addPhone(
        _ name: String, project: String = Self.project, platform: DevicePlatform = .android
    ) throws {
        try state.addDevice(name, project: project, package: Self.package, platform: platform)
    }

    func token(_ name: String = "phone") -> String { state.devices[name]?.token ?? "" }

    /// What phones have heard since this was asked last.
    mutating func events() -> [AndroidEvent] {
        defer { state.events.removeAll() }
        return state.events.map(\.event)
    }

    mutating func act(_ action: AndroidAction, on name: String = "phone") throws {
        try state.act(action, on: name)
    }

    // MARK: Requests

    func request(_ body: String, path: String? = nil, method: String = "POST") -> GoogleRequest {
        GoogleRequest(
            method: method, target: path ?? "/v1/projects/\(Self.project)/messages:send",
            headers: [("Authorization", "Bearer \(bearer)"), ("Content-Type", "application/json; charset=UTF-8")],
            body: Array(body.utf8))
    }

    /// A send to the phone with further members, as `"android":{"ttl":"3s"}`.
    func send(_ members: String = "", to target: String? = nil) -> GoogleRequest {
        let target = target ?? #""token":"\#(token())""#
        return request(#"{"message":{\#(target)\#(members.isEmpty || target.isEmpty ? "" : ",")\#(members)}}"#)
    }

    /// An assertion of the service account in its form. Claims are JSON, and `nil` leaves one out.
    func grant(
        _ change: [String: String?] = [:], header: String = #"{"alg":"RS256","typ":"JWT","kid":"key-1"}"#,
        signer: _RSA.Signing.PrivateKey = Self.key
    ) throws -> GoogleRequest {
        var claims: [String: String] = [
            "iss": "\"\(Self.account)\"", "scope": "\"\(Self.messaging)\"", "aud": #""https://127.0.0.1:8443/token""#,
            "iat": "\(clock.now.seconds)", "exp": "\(clock.now.seconds + 3_600)",
        ]
        for (name, value) in change { claims[name] = value }
        let payload = "{" + claims.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        let signed = [header, payload].map { Base64URL.text(of: Array($0.utf8)) }.joined(separator: ".")
        let digest = SHA256.hash(data: Array(signed.utf8))
        let signature = try signer.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation
        return Self.form(assertion: "\(signed).\(Base64URL.text(of: Array(signature)))")
    }

    static func form(type: String? = GrantCall.grantType, assertion: String?) -> GoogleRequest {
        let fields = [("grant_type", type), ("assertion", assertion)].compactMap { name, value in
            value.map { "\(name)=\(PercentEncoding.encode($0))" }
        }
        return GoogleRequest(
            target: "/token", headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array(fields.joined(separator: "&").utf8))
    }

    /// The rules that a request breaks, in their order.
    func broken(by request: GoogleRequest) -> [FCMRule] { violations(of: request).map(\.rule) }

    func violations(of request: GoogleRequest) -> [FCMViolation] {
        state.judge(FCMCall(request)).violations
    }

    @discardableResult
    mutating func post(_ request: GoogleRequest) -> FCMCallVerdict {
        state.handle(FCMCall(request))
    }

    /// Sends, and returns the id of the message; `nil` for one that was refused.
    @discardableResult
    mutating func push(_ members: String = "", to target: String? = nil) -> String? {
        let answer = post(send(members, to: target)).answer
        guard answer.status == 200, let name = Self.members(answer.body)["name"]?.asText else { return nil }
        return name.split(separator: "/").last.map(String.init)
    }

    static func members(_ json: String) -> [String: JSONValue] {
        (try? JSONDecoder().decode([String: JSONValue].self, from: Data(json.utf8))) ?? [:]
    }
}

extension GoogleRequest {
    /// Sets a header, or removes it.
    mutating func set(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.lowercased() == name }
        if let value { headers.append((name, value)) }
    }

    func with(_ name: String, _ value: String?) -> GoogleRequest {
        var request = self
        request.set(name, value)
        return request
    }
}

extension JSONValue {
    var asList: [JSONValue] { if case .list(let list) = self { list } else { [] } }
}
