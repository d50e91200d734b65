import RichPushModel
import Testing
import WireText

@Suite("Moments as text")
struct WireTimeTests {
    @Test(
        "a moment is written with three fraction digits and Z",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_772_359_200_123, "2026-03-01T10:00:00.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
            (.min, "0001-01-01T00:00:00.000Z"),
        ])
    func written(_ milliseconds: Int64, _ text: String) {
        #expect(WireTime(Timestamp(milliseconds: milliseconds)).description == text)
        #expect(WireTime(text)?.description == text)
    }

    @Test("the end of time is what does not expire")
    func never() { #expect(WireTime.never.description == "9999-12-31T23:59:59.999Z") }

    @Test(
        "what is no date is none",
        arguments: [
            "", "2026", "2026-03-01", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-03-01T24:00:00Z",
            "2026-03-01T10:60:00Z",
            "2026-03-01T10:00:60Z", "2026-03-01T10:00:00.Z", "2026-03-01T10:00:00X", "2026-03-01T10:00:00+1",
            "2026-03-01T10:00:00ZZ",
            "0000-01-01T00:00:00Z", "2026-03-01'T10:00:00", "+026-03-01T10:00:00Z",
        ])
    func noDate(_ text: String) { #expect(WireTime(text) == nil) }

    @Test("every day of four centuries reads back")
    func calendar() {
        for day in stride(from: Int64(-80_000), through: 80_000, by: 7) {
            let moment = Timestamp(milliseconds: day * 86_400_000 + 45_296_789)
            #expect(WireTime(WireTime(moment).description)?.moment == moment)
        }
    }
}
