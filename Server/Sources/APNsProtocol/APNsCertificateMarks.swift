/// What Apple writes into the certificates of providers (Reference/APNs.md#2-4), read without a certificate library.
public enum APNsCertificateMarks {
    /// The topics in the content of the extension 1.2.840.113635.100.6.3.6, which is DER: a SEQUENCE of alternating UTF8String topic and SEQUENCE of its kind.
    /// `nil` if it has another shape.
    public static func topics(in content: some Sequence<UInt8>) -> [String]? {
        var outer = Array(content)[...]
        guard let (tag, content) = next(&outer), tag == 0x30, outer.isEmpty else { return nil }
        var rest = content
        var topics: [String] = []
        while !rest.isEmpty {
            guard let (tag, name) = next(&rest), tag == 0x0C, let topic = String(validating: name, as: UTF8.self),
                let (kinds, _) = next(&rest), kinds == 0x30
            else { return nil }
            topics.append(topic)
        }
        return topics
    }

    /// Takes the first element off.
    private static func next(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            guard (0x81...0x82).contains(first) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7F) {
                guard let byte = bytes.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        return (tag, content)
    }
}
