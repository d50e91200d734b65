import RichPushModel
import RichPushSealing

/// What is to be sent end-to-end encrypted. Media types and the small picture are the sender's to declare: nobody else can look.
public struct SealedMessage: Sendable {
    public var words: SealedWords
    /// At most 50 MB.
    public var content: SealingPart?
    /// At most 500 KB.
    public var thumb: SealingPart?
    /// Absent means `alert`.
    public var style: DeliveryStyle?

    /// Creates a message.
    public init(words: SealedWords, content: SealingPart? = nil, thumb: SealingPart? = nil, style: DeliveryStyle? = nil) {
        self.words = words
        self.content = content
        self.thumb = thumb
        self.style = style
    }
}
