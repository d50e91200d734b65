/// Leases that can only be those of a dead process.
public enum LeaseTakeover: Hashable, Sendable {
    /// All: no other process may dispatch from the store.
    case all
    /// Those of this owner: no other process has its name.
    case own
    /// This cannot be known; leases end by themselves.
    case none
}
