import RichPushModel
import Testing
import WireText

@Suite("The header Retry-After")
struct RetryAfterTests {
    private static let now = Timestamp(seconds: 1_700_000_000)

    @Test(
        "seconds and dates of HTTP are read, and a day at most is believed",
        arguments: [
            ("0", 0), ("120", 120), ("9999999999", 86_400), ("Tue, 14 Nov 2023 22:13:50 GMT", 30),
            ("Tue, 14 Nov 2034 22:13:50 GMT", 86_400),
        ])
    func read(text: String, seconds: Int) { #expect(RetryAfter.pause(text, at: Self.now) == .seconds(seconds)) }

    @Test(
        "anything else is no pause, and neither is a date that has passed",
        arguments: ["", "soon", "-1", "1.5", "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:00:00 GMT"])
    func none(text: String) { #expect(RetryAfter.pause(text, at: Self.now) == nil) }
}
