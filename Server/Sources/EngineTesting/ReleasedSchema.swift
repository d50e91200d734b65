import Foundation
import RichPushModel
import SQLStorage

/// Databases as released versions left them: for each the schema in the words of each engine, and one set of rows for both.
public enum ReleasedSchema {
    /// The last step of each released version. Step 1 is that of the first release.
    public static let all = [1]

    /// The tables that never have a row.
    public static let emptyTables: Set = [Migration.turnTable]

    /// The folder with the files.
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Tests/Released")

    /// The statements that make the database of a version in an empty one. Every table has rows, but for `emptyTables`.
    ///
    /// With `now` the rows are moved to the day before it. A server removes what is old, so rows of a fixed day would not last.
    public static func script(_ step: Int, _ dialect: SQLDialect, dayBefore now: Timestamp? = nil) throws -> String {
        let schema = try text("schema-\(step).\(dialect.name).sql")
        var rows = try text("schema-\(step).rows.sql")
        if let now {
            let shift = now.milliseconds - 86_400_000 - firstMoment
            rows.replace(/\b1795[0-9]{9}\b/) { Int64($0.output).map { String($0 + shift) } ?? String($0.output) }
        }
        // No record that is added later belongs to a send of the rows.
        let next = "(SELECT MAX(order_mark) + 1 FROM notifications)"
        // The engines write bytes differently, and the counter is a table on one and a sequence on the other.
        return schema
            + (dialect == .sqlite
                ? rows + "UPDATE order_numbers SET last_value = \(next);\n"
                : rows.replacingOccurrences(of: "X'", with: "'\\x") + "SELECT setval('order_numbers', \(next));\n")
    }

    /// The first of the moments in the rows, in milliseconds. All of them are of that day or the next.
    private static let firstMoment: Int64 = 1_795_000_000_000

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}
