/// The number of a template's content within a hub: the same for every device that has the same template.
public struct TemplateID: Hashable, Sendable {
    public let number: Int64

    /// Creates an id.
    public init(_ number: Int64) { self.number = number }
}
