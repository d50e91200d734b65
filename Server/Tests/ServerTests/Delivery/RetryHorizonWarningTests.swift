import Testing

@testable import ServerDelivery
@testable import ServerSettings

@Suite("The warning of a short retry horizon")
struct RetryHorizonWarningTests {
    @Test(
        "comes where a push may get no second try after a 500, and nowhere else",
        arguments: [("1m", true), ("15m", true), ("989s", true), ("990s", false), ("30m", false)])
    func horizon(text: String, isShort: Bool) throws {
        let settings = try #require(SettingsFixture(file: "hub-retry-horizon: \(text)").read().settings)
        #expect((NodeDelivery.horizonWarning(settings) != nil) == isShort)
    }

    @Test("and the setting's text name the same limit")
    func text() throws {
        let settings = try #require(SettingsFixture(file: "hub-retry-horizon: 1m").read().settings)
        let limit = "below \(NodeDelivery.leastRetryHorizon.components.seconds)s "
        let warning = try #require(NodeDelivery.horizonWarning(settings)?.lowercased())
        #expect(warning.replacing(":", with: "").contains(limit))
        #expect(SettingCatalog.standard.hubBounds.retryHorizon.declaration.explanation.lowercased().contains(limit))
    }
}
