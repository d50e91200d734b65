import AppBackend
import RichPushModel

/// The text of `Documentation/Access.md`, made from the access table and the routes.
struct AccessPage {
    /// Which operation each route is, by method and path, such as `GET users/{name}`.
    var routes: [String: BackendOperation]
    /// The routes that need no credential, in the same form.
    var open: Set<String>

    /// The page.
    var markdown: String {
        """
        # Who may do what?

        This page is made from `AccessTable` in `Server/Sources/AppBackend` and from the routes; a test fails when they differ.
        Another test calls every route as every kind of caller and compares the answers with the same table.

        | Caller | Signs with |
        | --- | --- |
        | user, sender, admin, auditor | User name and password (`Authorization: Basic`), or the cookie of a session of the [console](Console.md). The column is the role of the user. |
        | installation | The credential that `PUT /api/v1/installations/{id}` answers with (`Authorization: Bearer`). It acts for its user. |
        | token | A one-time token that begins with `clt_`, or a token of a trusted issuer (`Authorization: Bearer`). It is exchanged for a credential. |
        | service key | A key that begins with `clk_` (`Authorization: Bearer`). Its scopes decide alone, and a key has one or more of them. |

        `own` grants what belongs to the caller: own devices, own sends, and what was sent to the caller. `all` grants it for the whole
        app. `–` is refused with status 403, a token with 401; a caller without a valid credential gets 401. A key with several scopes has the most that
        one of them grants. A key with `send:PREFIX` sends, counts and asks for sealing keys as one with `send`, for audiences of tags that begin with the prefix.

        | Route | Operation | user | sender | admin | auditor | installation | token | Scopes of a key |
        | --- | --- | --- | --- | --- | --- | --- | --- | --- |
        \(rows.joined(separator: "\n"))

        The scopes are \(ServiceKeyScope.Name.allCases.map { "`\($0.rawValue)`" }.sorted().joined(separator: ", ")). `GET notifications/{id}` with
        a ticket in its address needs no other credential, since the ticket was given to a caller who may read it.

        These need no credential: \(open.sorted().map { "`\($0)`" }.joined(separator: ", ")).

        ## Who may read a notification?

        `read notifications and their contents` is `own`: users read what was sent to them and what they sent. A send that names a user was sent to
        them, and so was one that matched a device of theirs between its beginning and its end. A tag that a device gets later opens nothing, and
        after a recall or the expiry no user reads it. The rule is `NotificationAccess`; it looks at
        [bindings](Decisions/two-ledgers-of-devices.md).

        """
    }

    /// In the order of the operations, then of paths and methods.
    private var rows: [String] {
        AccessTable.rows.flatMap { row in
            routes.filter { $0.value == row.operation }.keys.sorted { Self.order($0) < Self.order($1) }.map { Self.line($0, row) }
        }
    }

    /// The path first.
    private static func order(_ route: String) -> String { route.split(separator: " ").reversed().joined(separator: " ") }

    private static func line(_ route: String, _ row: AccessTable.Row) -> String {
        let roles = [UserRole.user, .sender, .admin, .auditor].map { name(row.roles[$0] ?? .none) }
        let cells = ["`\(route)`", row.operation.rawValue] + roles + [name(row.installation), name(row.token), scopes(row)]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private static func scopes(_ row: AccessTable.Row) -> String {
        if row.scopes.count == ServiceKeyScope.Name.allCases.count, Set(row.scopes.values).count == 1,
            let extent = row.scopes.values.first
        {
            return "every scope: \(name(extent))"
        }
        let scopes = row.scopes.map { "`\($0.key.rawValue)`: \(name($0.value))" }.sorted()
        return scopes.isEmpty ? "–" : scopes.joined(separator: ", ")
    }

    private static func name(_ extent: AccessExtent) -> String {
        switch extent {
        case .none: "–"
        case .own: "own"
        case .all: "all"
        }
    }
}
