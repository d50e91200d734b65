import RichPushModel

/// The texts of a page's members, one after the other.
final class AudienceTexts: Sendable {
    /// Where the texts of a member lie, one behind the other; an absent one is empty, as none that is present can be. Small, because
    /// members are copied often.
    struct Extent {
        private let start: UInt32
        private let handleEnd: UInt32
        private let recordEnd: UInt32
        private let environmentEnd: UInt32
        private let topicEnd: UInt32

        /// All of them are positions in one page, whose texts are far below four gigabytes.
        ///
        /// - Parameter ends: of handle, record, environment and topic.
        init(start: Int, ends: SIMD4<Int>) {
            self.start = UInt32(start)
            handleEnd = UInt32(ends[0])
            recordEnd = UInt32(ends[1])
            environmentEnd = UInt32(ends[2])
            topicEnd = UInt32(ends[3])
        }

        /// The same texts put behind those that are in `target`.
        func moved(from source: [UInt8], behind target: inout [UInt8]) -> Extent {
            let ends = SIMD4(handle.upperBound, record.upperBound, environment.upperBound, topic.upperBound)
            let (from, to) = (Int(start), target.count)
            target.append(contentsOf: source[from..<topic.upperBound])
            return Extent(start: to, ends: ends &+ (to - from))
        }

        var handle: Range<Int> { Int(start)..<Int(handleEnd) }
        var record: Range<Int> { Int(handleEnd)..<Int(recordEnd) }
        var environment: Range<Int> { Int(recordEnd)..<Int(environmentEnd) }
        var topic: Range<Int> { Int(environmentEnd)..<Int(topicEnd) }
        /// Environment and topic.
        var destination: Range<Int> { Int(recordEnd)..<Int(topicEnd) }
    }

    /// A member without its page. It has no reference, so that a copy counts none.
    struct Entry {
        var key: SliceKey
        var platform: PlatformTable.Place
        var registeredAt: Timestamp
        var version: Int64
        var template: TemplateID?
        var extent: Extent
    }

    let bytes: [UInt8]
    let platforms: PlatformTable

    init(_ bytes: [UInt8], _ platforms: PlatformTable) {
        self.bytes = bytes
        self.platforms = platforms
    }

    func text(_ range: Range<Int>) -> String {
        bytes.withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }
}

extension AudienceTexts.Extent {
    /// Puts texts behind those that are there.
    init(handle: String, record: String?, environment: String?, topic: String?, in bytes: inout [UInt8]) {
        let start = bytes.count
        var ends = SIMD4<Int>()
        for (place, text) in [handle, record, environment, topic].enumerated() {
            bytes.append(contentsOf: (text ?? "").utf8)
            ends[place] = bytes.count
        }
        self.init(start: start, ends: ends)
    }
}
