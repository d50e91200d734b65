/// Why a template that is in order could not be filled with these properties.
public enum TemplateRenderingError: Error, Hashable, Sendable {
    /// The result has more bytes than allowed.
    case tooLarge(limit: Int)
    /// The filled expiry is neither 0 nor a date-time.
    case malformedExpiry
    /// The filled priority is not a whole number from 0 to 255.
    case malformedPriority
    /// The filled value of this header has characters that a header cannot carry, or is not a value of this header.
    case malformedHeader(String)
}

extension TemplateRenderingError: CustomStringConvertible {
    /// A sentence for the caller; it repeats nothing of the properties.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "the filled template is larger than \(limit) bytes"
        case .malformedExpiry: "the filled expiry is neither 0 nor a date-time"
        case .malformedPriority: "the filled priority is not a whole number from 0 to 255"
        case .malformedHeader(let name): "the filled header \(name) has a value that it cannot have"
        }
    }
}
