import Testing

@testable import APNsDelivery

@Suite("Reports of refused device tokens")
struct RefusalNoticeTests {
    @Test("the first is reported at once, those of the next minute together, and without any nothing is reported")
    func pace() {
        var notice = RefusalNotice()
        #expect(notice.note(0, at: .zero) == nil)
        #expect(notice.note(2, at: .seconds(1)) == 2)
        #expect(notice.note(3, at: .seconds(2)) == nil)
        #expect(notice.note(4, at: .seconds(60)) == nil)
        #expect(notice.note(1, at: .seconds(61)) == 8)
        #expect(notice.note(0, at: .seconds(500)) == nil)
    }
}
