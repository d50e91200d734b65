import WireText

extension PercentEncoding {
    /// The text that a part of a signature stands for; `nil` also when a control character is in it.
    static func decodeVisible(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String? {
        decode(text, plusIsBlank: plusIsBlank).flatMap { text in text.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : text }
    }
}
