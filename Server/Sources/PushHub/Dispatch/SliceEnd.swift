/// What became of a slice that was in hand.
struct SliceEnd: Hashable {
    /// How long its pace makes it wait; zero when it does not.
    var wait = Duration.zero
    /// Whether the store may have it down as this node's still: no answer says that it took the slice back. It would lie idle for as long
    /// as the lease lasts.
    var isInDoubt = false
}
