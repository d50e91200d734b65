import RichPushModel

/// What became of a sealed notification: the app backend's answer, and who of its users will not be able to open it.
public struct SealedDraftAnswer: Hashable, Sendable, Encodable {
    public var answer: SendAnswer
    /// A sentence for each user with phones that show the neutral text, or with none that opens it.
    public var warnings: [String]

    /// Creates an answer.
    public init(_ answer: SendAnswer, warnings: [String] = []) {
        self.answer = answer
        self.warnings = warnings
    }

    private enum CodingKeys: String, CodingKey { case warnings }

    /// The warnings stand beside the backend's own fields.
    public func encode(to encoder: any Encoder) throws {
        try answer.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(warnings, forKey: .warnings)
    }
}
