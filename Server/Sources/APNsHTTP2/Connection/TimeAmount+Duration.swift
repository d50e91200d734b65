import NIOCore

extension TimeAmount {
    /// The same span for the event loop; clamped to 64 bits of nanoseconds.
    init(clamping duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        // Half of the range, so that a deadline never overflows.
        let largest = Int64.max / 2
        self =
            overflow || abs(product) > largest
            ? .nanoseconds(seconds < 0 ? 0 : largest) : .nanoseconds(product + attoseconds / 1_000_000_000)
    }
}
