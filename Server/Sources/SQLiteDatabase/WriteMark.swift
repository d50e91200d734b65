/// Whether a write has written anything yet. Lives on the connection's own thread.
final class WriteMark {
    var isSet = false
}
