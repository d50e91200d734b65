/// Why a sealed text does not open.
public enum SealingFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is not a sealed text of a version that is known here.
    case malformed
    /// It was sealed under a master key that this node does not have; the value is that key's id.
    case unknownKey(String)
    /// It was changed, or it was sealed for another purpose.
    case notAuthentic

    public var description: String {
        switch self {
        case .malformed: "the sealed text is damaged"
        case .unknownKey(let id): "it was sealed under another master key (\(id))"
        case .notAuthentic: "the sealed text was changed, or belongs somewhere else"
        }
    }
}
