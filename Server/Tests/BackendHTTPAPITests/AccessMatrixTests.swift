import AppBackend
import ClarionTesting
import Foundation
import HTTPTypes
import RichPushModel
import Testing

@testable import BackendHTTPAPI

/// Asks every route as every kind of caller, and compares the class of the answer with the access table.
@Suite("Who may do what")
struct AccessMatrixTests {
    /// What an answer says of the caller.
    enum Answer: String {
        case unknownCaller = "401"
        case forbidden = "403"
        case allowed = "neither 401 nor 403, and no fault of the server"
        case fault = "a fault of the server"

        init(status: Int) {
            self =
                switch status {
                case 401: .unknownCaller
                case 403: .forbidden
                case 500...: .fault
                default: .allowed
                }
        }
    }

    /// A kind of caller.
    struct Caller {
        var name: String
        var headers: HTTPFields
        /// What the answer is where the table grants nothing.
        var refusal = Answer.forbidden
        /// What the table grants to such a caller; absent for one who proves nothing.
        var extent: (@Sendable (AccessTable.Row) -> AccessExtent)?

        func expected(of operation: BackendOperation) throws -> Answer {
            guard let extent else { return .unknownCaller }
            let row = try #require(AccessTable.rows.first { $0.operation == operation })
            return extent(row) == .none ? refusal : .allowed
        }
    }

    /// A route with values in its path.
    private struct Request {
        var method: HTTPRequest.Method
        var uri: String
    }

    private static func request(_ route: String, installation: String) throws -> Request {
        let words = route.split(separator: " ")
        let method = try #require(HTTPRequest.Method(String(words[0])))
        let path = words[1].replacing("installations/{id}", with: "installations/\(installation)")
            .replacing("register/{id}", with: "register/unknown-device").replacing("keys/{id}", with: "keys/999")
            .replacing("{id}", with: "1").replacing("{name}", with: "zoe").replacing("{rule}", with: "rule")
        return Request(method: method, uri: "\(APIRoute.prefix)/\(path)")
    }

    private static func users() -> [Caller] {
        let roles: [(name: String, label: String, role: UserRole)] = [
            ("ann", "a user", .user), ("bob", "another user", .user), ("sam", "a sender", .sender), ("root", "an admin", .admin),
            ("eve", "an auditor", .auditor),
        ]
        return roles.map { caller in
            Caller(name: caller.label, headers: BackendBench.basic(caller.name)) { $0.roles[caller.role] ?? .none }
        }
    }

    /// Sessions of the console, as the page of the console sends them.
    private static func sessions(_ bench: BackendBench) async throws -> [Caller] {
        var callers: [Caller] = []
        for (name, role) in [("ann", UserRole.user), ("sam", .sender), ("root", .admin), ("eve", .auditor)] {
            let headers = try await bench.consoleSession(of: name)
            callers.append(Caller(name: "\(name) in the console", headers: headers) { $0.roles[role] ?? .none })
        }
        return callers
    }

    /// Keys with each scope alone, one that has expired and one that was revoked.
    private static func keys(_ bench: BackendBench) async throws -> [Caller] {
        var callers: [Caller] = []
        for scope in ServiceKeyScope.Name.allCases {
            let headers = try await bench.key(scope.rawValue)
            callers.append(Caller(name: "a key with \(scope.rawValue)", headers: headers) { $0.scopes[scope] ?? .none })
        }
        let every = ServiceKeyScope.Name.allCases.map(\.rawValue)
        callers.append(
            Caller(
                name: "an expired key",
                headers: try await bench.key("expired", scopes: every, expiresAt: bench.clock.now + .seconds(1))))
        let revoked = try await bench.key("revoked", scopes: every)
        let id = try #require(try await bench.backend.keys().keys.first { $0.name == "revoked" }?.id)
        try await bench.backend.revokeKey(id)
        return callers + [Caller(name: "a revoked key", headers: revoked)]
    }

    private static let unproven = [
        Caller(name: "no caller", headers: [:]),
        Caller(name: "a wrong password", headers: BackendBench.basic("ann", password: "not the password")),
        Caller(name: "an unknown user", headers: BackendBench.basic("zoe")),
        Caller(name: "an unknown credential", headers: [.authorization: "Bearer phone.0000"]),
    ]

    @Test("every route answers every kind of caller as the access table says")
    func matrix() async throws {
        let bench = try await BackendBench()
        _ = try await bench.sendPicture(Fixtures.png(name: "a"), as: "ann")
        let callers = try await Self.users() + Self.keys(bench) + Self.unproven
        var differences: [String] = []
        var count = 0
        for (number, (route, operation)) in bench.accessRoutes.sorted(by: { $0.key < $1.key }).enumerated() {
            // Failed sign-ins make the next ones wait, and the keys that were made to expire do.
            bench.clock.advance(by: .seconds(7200))
            let phone = Caller(
                name: "an installation", headers: try await bench.signIn("phone-\(number)", as: "ann"),
                extent: { $0.installation })
            let minted = try await bench.backend.mintSignInToken(SignInTokenRequest(user: "ann"))
            let token = Caller(
                name: "a one-time token", headers: [.authorization: "Bearer \(minted.token)"], refusal: .unknownCaller,
                extent: { $0.token })
            // A session would have expired meanwhile.
            for caller in try await callers + Self.sessions(bench) + [phone, token] {
                let request = try Self.request(
                    route, installation: caller.name == phone.name ? "phone-\(number)" : "unknown-phone")
                let answer = try await bench.json(request.method, request.uri, headers: caller.headers, "{\"unknown\":true}")
                let found = Answer(status: Int(answer.status.code))
                let expected = try caller.expected(of: operation)
                count += 1
                if found != expected {
                    differences.append(
                        "\(route) (\(operation.rawValue)) as \(caller.name): expected \(expected.rawValue), "
                            + "the answer is \(answer.status.code) \(answer.detail ?? "")")
                }
            }
        }
        #expect(differences == [], "\(differences.count) of \(count):\n\(differences.joined(separator: "\n"))")
        #expect(count == bench.accessRoutes.count * (callers.count + 6))
    }

    @Test("every route of the API is an operation of the table, or needs no credential")
    func complete() async throws {
        let bench = try await BackendBench()
        let known = Set(bench.accessRoutes.keys).union(bench.openRoutes)
        let registered = RouteDescriptionTests.registered(in: bench.table).map { route in
            "\(route.method.rawValue) \(route.path.dropFirst(APIRoute.prefix.count + 1))"
        }
        #expect(Set(registered) == known)
        #expect(bench.openRoutes.isDisjoint(with: bench.accessRoutes.keys))
    }

    @Test("the key for browsers alone needs no credential")
    func open() async throws {
        #expect(try await BackendBench().openRoutes == ["GET web-push"])
    }

    @Test("the table has one row for each operation, with every role of a person and none for the account of a key")
    func rows() {
        #expect(AccessTable.rows.map(\.operation) == BackendOperation.allCases)
        for row in AccessTable.rows { #expect(Set(row.roles.keys) == Set(UserRole.ofPersons), "\(row.operation.rawValue)") }
    }

    @Test("a refusal names the role or the scope that is missing")
    func refusals() async throws {
        let bench = try await BackendBench()
        let user = try await bench.call(.get, "/api/v1/users", as: "ann")
        #expect(user.code == "forbidden")
        #expect(user.detail == "your role user may not read users")
        let key = try await bench.call(.get, "/api/v1/users", headers: try await bench.key("send"))
        #expect(key.code == "forbidden")
        #expect(key.detail == "this service key may not read users; it needs one of the scopes admin, users")
        let phone = try await bench.call(.get, "/api/v1/users", headers: try await bench.signIn("phone", as: "root"))
        #expect(phone.detail == "an installation credential may not read users; sign with a password")
    }
}
