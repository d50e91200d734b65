import Testing

@testable import PushHub

@Suite("Frequency caps")
struct FrequencyCapTests {
    @Test(
        "a cap is read and written in one form",
        arguments: [
            ("marketing=3/7d", "marketing=3/7d", 604_800), ("a-1=1/1m", "a-1=1/1m", 60), ("x=1000/24h", "x=1000/1d", 86_400),
            ("x=2/90m", "x=2/90m", 5_400), ("x=2/120m", "x=2/2h", 7_200), ("x=1/31d", "x=1/31d", 2_678_400),
        ])
    func forms(_ text: String, _ written: String, _ seconds: Int) throws {
        let cap = try #require(FrequencyCap(text))
        #expect(cap.description == written)
        #expect(cap.window == .seconds(seconds))
        #expect(FrequencyCap(written) == cap)
    }

    @Test(
        "anything else is no cap",
        arguments: [
            "", "marketing", "marketing=", "=3/7d", "marketing=3", "marketing=3/", "marketing=3/d", "marketing=3/7",
            "marketing=0/7d",
            "marketing=1001/7d", "marketing=3/0d", "marketing=3/32d", "marketing=3/45000m", "marketing=3/1s", "Marketing=3/7d",
            "mark_eting=3/7d", "märz=3/7d", "marketing=3/7d/1", "marketing=3=1/7d", "marketing=+3/7d", "marketing= 3/7d",
            "marketing=3/7 d", "marketing=-3/7d", "marketing=3/999999999999999999d", "a23456789012345678901234567890123=1/1d",
        ])
    func malformed(_ text: String) { #expect(FrequencyCap(text) == nil) }
}
