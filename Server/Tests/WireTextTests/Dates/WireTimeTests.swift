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

    @Test(
        "the lenient reader also takes shortened dates and dates with the month first",
        arguments: [
            ("2026-03-01T10:00:00.5+01:00", "2026-03-01T09:00:00.500Z", false), ("2026", "2026-01-01T00:00:00.000Z", false),
            ("2026-03", "2026-03-01T00:00:00.000Z", false), ("03/02/2026", "2026-03-02T00:00:00.000Z", false),
            ("3/2/2026 2:45", "2026-03-02T02:45:00.000Z", true), ("03/02/2026 14:45:00", "2026-03-02T14:45:00.000Z", false),
            ("03/02/2026 00:45:00", "2026-03-02T00:45:00.000Z", false),
            ("3/2/2026 12:45:00 pm", "2026-03-02T12:45:00.000Z", false),
            ("3/2/2026 12:45:00 Am", "2026-03-02T00:45:00.000Z", false),
        ])
    func lenient(_ text: String, _ moment: String, _ isOpen: Bool) throws {
        let time = try #require(LenientTime(text))
        #expect(WireTime(time.moment).description == moment)
        #expect(time.isHalfOfDayOpen == isOpen)
    }

    @Test(
        "what names no moment is no date to the lenient reader either",
        arguments: [
            "", "26-03-01", "2026-", "2026-03-32", "3/1/2026 13:00 PM", "3/1/2026 0:00 AM", "3/1/2026 10", "3/1/2026 10:00 XM",
        ])
    func noLenientDates(_ text: String) { #expect(LenientTime(text) == nil) }
}
