import RichPushModel
import Testing

@testable import PushHub

@Suite("The candidates of a page")
struct CandidatesTests {
    private func member(_ number: Int64, environment: String?, topic: String?) -> AudienceMember {
        AudienceMember(
            key: SliceKey(number), record: RecordID("record-\(number)"), platform: .apns,
            handle: DeviceHandle(canonical: String(repeating: "A\(number)", count: Int(number))), environment: environment,
            topic: topic, registeredAt: Timestamp(milliseconds: number), version: number, template: TemplateID(number))
    }

    @Test("gathered from elsewhere each is what it was, with absent texts and without a record too")
    func gathered() {
        let candidates = [
            SlicePage.Candidate(member: member(1, environment: "sandbox", topic: nil), isSkipped: false),
            .init(member: member(2, environment: nil, topic: "com.example.app"), isSkipped: true),
            .init(member: AudienceMember(handle: DeviceHandle(canonical: "ff"), platform: .apns, position: 9), isSkipped: false),
            .init(member: member(3, environment: nil, topic: nil), isSkipped: false),
        ]
        let gathered = SlicePage.Candidates(candidates)
        #expect(Array(gathered) == candidates)
        #expect(gathered.indices.map(gathered.isDirect) == [false, false, true, false])
        #expect(gathered.indices.map(gathered.outcomeUntried) == [nil, .skipped, nil, nil])
        #expect(gathered.templates == [TemplateID(1), TemplateID(2), TemplateID(3)])
    }

    @Test("a row that could not be read leaves nothing behind that the next one would take for its own")
    func cutRow() throws {
        let numbers = CandidateReading.Numbers(
            key: SliceKey(5), registeredAt: Timestamp(milliseconds: 1), version: 1, template: nil, isSkipped: false)
        var reading = CandidateReading(capacity: 2, platform: .apns)
        // Half a row, and then no more of it.
        reading.bytes.append(contentsOf: "half".utf8)
        let start = reading.bytes.count
        reading.bytes.append(contentsOf: "ABrecord".utf8)
        reading.append(numbers, of: nil, textsFrom: start, to: SIMD4(start + 2, start + 8, start + 8, start + 8))
        let candidates = reading.finished()
        #expect(candidates.map(\.member.handle.text) == ["AB"] && candidates.first?.member.record?.text == "record")
        #expect(candidates.first?.member.platform == .apns)
    }
}
