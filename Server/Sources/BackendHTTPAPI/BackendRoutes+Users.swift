import AppBackend
import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import RichPushModel
import ServiceErrors

/// The body of `POST /api/v1/users`.
struct UserCreation: Decodable {
    var name: String
    /// Absent for a user who signs in with tokens only.
    var password: String?
    var role: UserRole?
    var tags: [Tag]?
}

/// The body of `PATCH /api/v1/users/{name}`: what is absent stays.
struct UserChange: Decodable {
    var password: String?
    var role: UserRole?
    var disabled: Bool?
    var tags: [Tag]?
    /// `22:00-07:00`, or `none`.
    var quietHours: String?
    /// `false` removes it.
    var secondFactor: Bool?
}

extension BackendRoutes {
    func addUserRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        add(.get, "users", for: .readUsers, to: router) { call in
            let query = try call.query("after", "prefix", "limit")
            let limit = try query.number("limit", in: 1...1000) ?? 200
            return try .json(await UserPage(backend, after: query["after"], prefix: query["prefix"], limit: limit))
        }
        add(.post, "users", for: .changeUsers, to: router) { call in
            _ = try call.query()
            let new = try await call.request.readJSON(UserCreation.self, known: FieldNames.newUser, limits: options.json)
            let user = try await backend.addUser(
                name: new.name, password: new.password, role: new.role ?? .user, tags: new.tags ?? [], by: call.principal)
            return try .json(UserAnswer(user), status: .created)
        }
        add(.get, "users/{name}", for: .readUsers, to: router) { call in
            _ = try call.query()
            return try .json(UserAnswer(await backend.user(call.userName())))
        }
        add(.patch, "users/{name}", for: .changeUsers, to: router) { call in try await change(call) }
        add(.delete, "users/{name}", for: .changeUsers, to: router) { call in
            let erases = try call.query("erase")["erase"]
            switch erases {
            case nil, "false": try await backend.removeUser(name: call.userName(), by: call.principal)
            case "true":
                // It reads the whole audit.
                extendDeadline(of: call)
                try await backend.eraseUser(name: call.userName(), by: call.principal)
            default: throw ServiceError(.invalidField, "erase: true or false")
            }
            return Response(status: .noContent)
        }
        add(.delete, "users/{name}/sessions", for: .changeUsers, to: router) { call in
            _ = try call.query()
            try await backend.endSessions(ofUser: call.userName(), by: call.principal)
            return Response(status: .noContent)
        }
        add(.get, "users/{name}/export", for: .exportUsers, to: router) { call in
            _ = try call.query()
            return try await export(call.userName(), for: call.principal)
        }
    }

    private func change(_ call: AuthenticatedRequest) async throws -> Response {
        _ = try call.query()
        let name = try call.userName()
        let change = try await call.request.readJSON(UserChange.self, known: FieldNames.userChange, limits: options.json)
        guard change.secondFactor != true else {
            throw ServiceError(
                .invalidField, "secondFactor: it must be false, which removes it; a person sets one up in the console")
        }
        try await backend.changeUser(
            name: name, role: change.role, tags: change.tags, password: change.password, isDisabled: change.disabled,
            quietHours: change.quietHours, removesSecondFactor: change.secondFactor == false, by: call.principal)
        return try .json(UserAnswer(await backend.user(name)))
    }

    /// The records of a user, a line of JSON each. What is wrong before the first line is an error answer; later the body is cut off.
    private func export(_ name: String, for principal: Principal) async throws -> Response {
        try await backend.requireExport(ofUser: name, by: principal)
        return Response(
            status: .ok, headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
            body: ResponseBody { [backend] writer in
                var lines = ByteBuffer()
                try await backend.exportUser(name: name, by: principal) { line in
                    lines.writeString(line + "\n")
                    guard lines.readableBytes > 16_384 else { return }
                    try await writer.write(lines)
                    lines.clear()
                } content: { _, _, _ in
                }
                try await writer.write(lines)
                try await writer.finish(nil)
            })
    }
}

extension AuthenticatedRequest {
    /// The user in the path. A name that cannot exist is as unknown as one that does not.
    fileprivate func userName() throws(ServiceError) -> String {
        guard let name = context.parameters.get("name"), UserName(name) != nil else { throw ServiceError(.notFound) }
        return name
    }
}

/// A user as callers see them.
private struct UserAnswer: Encodable {
    var name: String
    var role: String
    var tags: [Tag]
    var createdAt: Timestamp
    var disabledAt: Timestamp?
    var secondFactorAt: Timestamp?
    var quietHours: String?

    init(_ user: User) {
        (name, role, tags) = (user.name.text, user.role.rawValue, user.tags)
        (createdAt, disabledAt, secondFactorAt) = (user.createdAt, user.disabledAt, user.secondFactorAt)
        quietHours = user.quietHours?.description
    }
}

/// A page of users in the order of their names.
private struct UserPage: Encodable {
    var users: [UserAnswer]
    /// The name after which the next page begins; absent on the last page.
    var next: String?

    init(_ backend: RichPushBackend, after name: String?, prefix: String?, limit: Int) async throws {
        if let name, UserName(name) == nil { throw ServiceError(.invalidField, "after: a user name, as `next` gave it") }
        if let prefix, UserName(prefix) == nil { throw ServiceError(.invalidField, "prefix: the beginning of a user name") }
        let found = try await backend.users(after: name, prefix: prefix, limit: limit + 1)
        let page = found.prefix(limit)
        users = page.map(UserAnswer.init)
        next = found.count > limit ? page.last?.name.text : nil
    }
}
