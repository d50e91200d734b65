import Foundation
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
    public static func script(_ step: Int, _ dialect: SQLDialect) throws -> String {
        let schema = try text("schema-\(step).\(dialect.name).sql")
        let rows = try text("schema-\(step).rows.sql")
        // The engines write bytes differently, and the counter is a table on one and a sequence on the other.
        return schema
            + (dialect == .sqlite
                ? rows + "UPDATE order_numbers SET last_value = \(nextOrder);\n"
                : rows.replacingOccurrences(of: "X'", with: "'\\x") + "SELECT setval('order_numbers', \(nextOrder));\n")
    }

    /// The order number after the last one in the rows. A record that is added later belongs to no send of the rows.
    private static let nextOrder: Int64 = 4_398_046_511_114

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}
