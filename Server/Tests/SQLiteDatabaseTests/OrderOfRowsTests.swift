import Testing

@testable import SQLStorage

@Suite("The order of rows")
struct OrderOfRowsTests {
    /// Columns of which each value comes once in what a statement looks at, or once beside the columns before it.
    private static let unique: Set<Substring> = [
        "audience_key", "binding_id", "content_id", "credential_id", "digest", "entry_id", "folded_name", "hub_id",
        "installation_id",
        "notification_id", "receipt_key", "repeat_key", "rich_id", "slice_key", "user_id",
    ]

    @Test("rows of the backend that are equally old come in the same order on every engine")
    func ties() throws {
        var looked = 0
        for text in SQLStatement.allOfBackend.map(\.text) {
            for order in text.split(separator: "ORDER BY ").dropFirst() {
                looked += 1
                let columns = order.prefix { $0 != ")" }.split(separator: " LIMIT")[0].split(separator: ", ")
                let last = try #require(columns.last?.split(separator: " ").first?.split(separator: ".").last)
                #expect(Self.unique.contains(last), "\(text)")
            }
        }
        #expect(looked > 20)
    }
}
