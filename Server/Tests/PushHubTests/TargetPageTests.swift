import RichPushModel
import Testing

@testable import PushHub

@Suite("The targets of a page")
struct TargetPageTests {
    private func target(
        _ number: Int64, environment: String?, topic: String?, isSkipped: Bool = false
    ) -> TargetPage.Target {
        TargetPage.Target(
            key: SliceKey(number), record: RecordID("record-\(number)"), platform: .apns,
            handle: DeviceToken(canonical: String(repeating: "A\(number)", count: Int(number))), environment: environment,
            topic: topic, registeredAt: Timestamp(milliseconds: number), version: number, template: TemplateID(number),
            isSkipped: isSkipped)
    }

    private var targets: [TargetPage.Target] {
        [
            target(1, environment: "sandbox", topic: nil),
            target(2, environment: nil, topic: "com.example.app", isSkipped: true),
            .init(handle: DeviceToken(canonical: "ff"), platform: .apns, position: 9),
            target(3, environment: nil, topic: nil),
        ]
    }

    @Test("gathered from elsewhere each is what it was, with absent texts and without a record too")
    func gathered() {
        let page = TargetPage(targets)
        #expect(Array(page) == targets)
        #expect(page.indices.map(page.isDirect) == [false, false, true, false])
        #expect(page.indices.map { page.outcomeUntried($0) } == [nil, .skipped, nil, nil])
        #expect(page.templates == [TemplateID(1), TemplateID(2), TemplateID(3)])
    }

    @Test("the bytes of a device token are where the page says they are")
    func tokens() {
        let page = TargetPage(targets)
        let tokens = page.indices.map { String(decoding: page.bytes[page.token($0)], as: UTF8.self) }
        #expect(tokens == targets.map(\.handle.text))
    }

    @Test("a row that could not be read leaves nothing behind that the next one would take for its own")
    func cutRow() throws {
        let numbers = TargetPage.Numbers(
            key: SliceKey(5), registeredAt: Timestamp(milliseconds: 1), version: 1, template: nil)
        var page = TargetPage(capacity: 2)
        struct Cut: Error {}
        #expect(throws: Cut.self) {
            try page.append(numbers, of: .apns) { bytes in
                // Half a row, and then no more of it.
                bytes.append(contentsOf: "half".utf8)
                throw Cut()
            }
        }
        page.append(numbers, of: .apns) { bytes in
            let start = bytes.count
            bytes.append(contentsOf: "ABrecord".utf8)
            return SIMD4(start + 2, start + 8, start + 8, start + 8)
        }
        #expect(page.map(\.handle.text) == ["AB"])
        #expect(page.first?.record?.text == "record")
        #expect(page.first?.platform == .apns)
    }

    @Test("due targets come back as they were given, those that have gone without a target")
    func due() {
        let given = [target(1, environment: nil, topic: "one"), nil, target(2, environment: "sandbox", topic: nil)]
            .enumerated().map { place, member in
                SlicePage.DueTarget(
                    target: PendingTarget(
                        key: member?.key ?? SliceKey(7), cause: .retry, attempts: place + 1, firstAt: Timestamp(milliseconds: 1),
                        notBefore: Timestamp(milliseconds: 2)),
                    member: member)
            }
        let due = SlicePage.DueTargets(given)
        #expect(Array(due) == given)
        #expect(due.count == 3)
        #expect(SlicePage.Work.retries(due).templates == [TemplateID(1), TemplateID(2)])
    }

    @Test("targets are alike when template, environment and topic are the same, whatever else they are")
    func alike() {
        func page(_ changes: [(inout TargetPage.Target) -> Void]) -> TargetPage {
            TargetPage(
                changes.map { change in
                    var target = target(4, environment: "sandbox", topic: "one")
                    change(&target)
                    return target
                })
        }
        let page = page([
            { _ in },
            { $0.handle = DeviceToken(canonical: "0123") },
            { $0.topic = "two" },
            { $0.environment = nil },
            { $0.template = nil },
            // The same bytes one behind the other.
            { ($0.environment, $0.topic) = ("sandboxo", "ne") },
        ])
        #expect(page.indices.map { page.areAlike(0, $0) } == [true, true, false, false, false, false])
    }
}
