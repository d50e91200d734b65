import ClarionTesting
import Crypto
import Foundation

import RichPushModel
import Testing

@testable import PushHub

@Suite("Push ids of a page")
struct PushIDTests {
    /// Names of one length after the other, of every length that fits into one block, two, or neither, so that lanes fill, empty
    /// and change their number of blocks.
    private func names(_ generator: inout SeededGenerator) -> [RecordID] {
        (0..<400).compactMap { index in
            let length = index < 130 ? index + 1 : Int.random(in: 1...140, using: &generator)
            let letters = (0..<length).map { _ in Character(Unicode.Scalar(UInt8.random(in: 0x21...0x7E, using: &generator))) }
            return RecordID(String(letters))
        }
    }

    @Test("the ids of a page are those of each of its records by itself, in order")
    func pageAgreesWithRecords() throws {
        var generator = SeededGenerator()
        let send = NotificationID()
        let records = names(&generator)
        #expect(records.count == 400)
        var members = records.map {
            TargetPage.Target(
                key: SliceKey(1), record: $0, platform: .apns, handle: DeviceToken(canonical: "AB"),
                registeredAt: Timestamp(milliseconds: 0))
        }
        let direct = TargetPage.Target(handle: DeviceToken(canonical: "CD"), platform: .apns, position: 7)
        // Where others wait for their lanes to fill.
        members.insert(direct, at: 5)
        var expected = records.map { PushID(notification: send, record: $0) }
        expected.insert(PushID(notification: send, handle: direct.handle), at: 5)
        #expect(PushID.Naming(send).ids(of: TargetPage(members), Array(members.indices)) == expected, "seed \(generator.seed)")
    }

    @Test("an id is version 5 of a UUID over the notification, a zero byte and the record")
    func idFromItsDefinition() throws {
        let send = NotificationID()
        for length in [1, 17, 18, 19, 36, 72, 73, 82, 83, 200] {
            let record = try #require(RecordID(String(repeating: "r", count: length)))
            let digest = Array(Insecure.SHA1.hash(data: Array(send.text.utf8) + [0] + Array(record.text.utf8)).prefix(16))
            let member = TargetPage.Target(
                key: SliceKey(1), record: record, platform: .apns, handle: DeviceToken(canonical: "AB"),
                registeredAt: Timestamp(milliseconds: 0))
            let id = try #require(PushID.Naming(send).ids(of: TargetPage([member]), [0]).first).uuid.uuid
            #expect((id.0, id.5, id.7, id.9, id.15) == (digest[0], digest[5], digest[7], digest[9], digest[15]))
            #expect(id.6 == digest[6] & 0x0F | 0x50 && id.8 == digest[8] & 0x3F | 0x80, "\(length)")
        }
    }
}
