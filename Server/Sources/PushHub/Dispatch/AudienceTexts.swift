import RichPushModel

/// The texts of a page's members, one after the other.
final class AudienceTexts: Sendable {
    /// Where the texts of a member lie, one behind the other; an absent one is empty, as none that is present can be. Small, because
    /// members are copied often.
    struct Extent {
        private var start: UInt32
        private var handleEnd: UInt32
        private var recordEnd: UInt32
        private var environmentEnd: UInt32
        private var topicEnd: UInt32

        /// All of them are positions in one page, whose texts are far below four gigabytes.
        init(start: Int, handleEnd: Int, recordEnd: Int, environmentEnd: Int, topicEnd: Int) {
            self.start = UInt32(start)
            self.handleEnd = UInt32(handleEnd)
            self.recordEnd = UInt32(recordEnd)
            self.environmentEnd = UInt32(environmentEnd)
            self.topicEnd = UInt32(topicEnd)
        }

        var handle: Range<Int> { Int(start)..<Int(handleEnd) }
        var record: Range<Int> { Int(handleEnd)..<Int(recordEnd) }
        var environment: Range<Int> { Int(recordEnd)..<Int(environmentEnd) }
        var topic: Range<Int> { Int(environmentEnd)..<Int(topicEnd) }
    }

    /// A member without its page.
    struct Entry {
        var key: SliceKey
        var platform: Platform
        var registeredAt: Timestamp
        var version: Int64
        var template: TemplateID?
        var extent: Extent
    }

    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

extension AudienceTexts.Extent {
    /// Puts texts behind those that are there.
    init(handle: String, record: String?, environment: String?, topic: String?, in bytes: inout [UInt8]) {
        let start = bytes.count
        let ends = [handle, record, environment, topic].map { text in
            bytes.append(contentsOf: (text ?? "").utf8)
            return bytes.count
        }
        self.init(start: start, handleEnd: ends[0], recordEnd: ends[1], environmentEnd: ends[2], topicEnd: ends[3])
    }
}
