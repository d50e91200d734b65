import ServiceErrors

extension ErrorTable {
    /// The text of `Documentation/Errors.md`.
    public static var markdown: String {
        let rows = ServiceErrorCode.allCases.map(entry(for:)).map(row)
        return (preface + rows).joined(separator: "\n") + "\n"
    }

    private static let preface = [
        "# Errors",
        "",
        "Every error answer of `/api` is `application/problem+json` (RFC 9457) with the members `type`, `title`, `status`,",
        "`detail` and `code`. Programs read `code`; it never changes its meaning. `detail` says what was wrong this time and where;",
        "it never repeats a secret, a device token or content. `X-Request-Id` of the answer finds the line in the server's log.",
        "",
        "This page is made from `ErrorTable` in `Server/Sources/HTTPService`; a test fails when the two differ.",
        "",
        "| Code | Status | Meaning | What to do | Retry-After | Logged as |",
        "| --- | --- | --- | --- | --- | --- |",
    ]

    private static func row(_ entry: ErrorTableEntry) -> String {
        let cells = [
            "<a id=\"\(entry.wireCode)\"></a>`\(entry.wireCode)`", String(entry.status.code), entry.title, entry.advice,
            entry.retryAfter.map { "\($0) s" } ?? "", entry.level.rawValue,
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}
