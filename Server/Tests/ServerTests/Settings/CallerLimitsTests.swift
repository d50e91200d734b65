import Foundation
import Testing

@testable import ServerSettings

@Suite("The limits for one caller in writing")
struct CallerLimitsTests {
    @Test("the page has the table that the code makes")
    func page() throws {
        let root = URL(filePath: #filePath).pathComponents.dropLast(5).joined(separator: "/").dropFirst()
        let text = try String(contentsOfFile: "\(root)/Documentation/LimitsPerCaller.md", encoding: .utf8)
        #expect(text.contains("\n\n" + CallerLimits.table + "\n"), "it is\n\(CallerLimits.table)")
    }

    @Test("every setting that limits a user has a row")
    func complete() {
        for key in SettingCatalog.users.map(\.key) where key != SettingCatalog.minimumPasswordLength.declaration.key {
            #expect(CallerLimits.table.contains("`\(key)`"), "\(key)")
        }
    }

    @Test("what protects accounts is counted in the database")
    func accounts() {
        let rows = CallerLimits.rows.filter { $0.counted.hasPrefix("Failed sign-ins") }
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { $0.place == .database })
    }
}
