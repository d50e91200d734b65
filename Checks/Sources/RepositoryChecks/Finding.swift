/// Something that breaks a rule of the repository: where, and which rule.
public struct Finding: Hashable, Sendable, CustomStringConvertible {
    public let place: String
    public let sentence: String

    /// Creates a finding.
    public init(_ place: String, _ sentence: String) {
        self.place = place
        self.sentence = sentence
    }

    public var description: String { "\(place): \(sentence)" }
}
