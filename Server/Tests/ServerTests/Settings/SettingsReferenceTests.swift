import Foundation
import Testing

@testable import ServerSettings

@Suite("The settings in writing")
struct SettingsReferenceTests {
    /// The root of the repository, found from this file.
    private func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).pathComponents.dropLast(5).joined(separator: "/").dropFirst()
        return try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    @Test("the reference page is fresh; if not, run make reference")
    func page() throws { #expect(try text("Documentation/Settings.md") == SettingsReference.page) }

    @Test("the example file is fresh; if not, run make reference")
    func exampleFile() throws { #expect(try text("Examples/clarion.yaml") == SettingsReference.exampleFile) }

    @Test("the example file is accepted, and says what the defaults say")
    func accepted() throws {
        let example = SettingsFixture(file: SettingsReference.exampleFile).read()
        #expect(example.problems.isEmpty)
        #expect(example.settings == SettingsFixture().read().settings)
    }

    @Test("the example file has every key")
    func complete() {
        let lines = SettingsReference.exampleFile.split(separator: "\n")
        for key in SettingCatalog.all.map(\.declaration.key) {
            #expect(lines.contains { $0.hasPrefix("\(key):") || $0.hasPrefix("# \(key):") }, "\(key)")
        }
    }
}
