/// How much the emulator remembers. Each is a bound: the oldest entry goes first.
public struct EmulationRetention: Sendable, Hashable {
    /// Requests with their answers, kept for inspection.
    public var exchanges: Int
    /// Entries of the delivery log.
    public var deliveries: Int
    /// Distinct `apns-id` values whose acceptances are counted; 0 switches the count off. Beyond the bound new ids are
    /// not counted, known ones still are.
    public var countedIDs: Int
    /// Pushes that wait in the stream of a connected device; beyond it the oldest is dropped and logged as such.
    public var deviceQueue: Int
    /// Exchanges that wait in the stream of an observer.
    public var observerQueue: Int

    /// Frames kept for inspection; 0 records no frames and counts none, which is what load tests want.
    public var frames: Int

    /// Creates bounds.
    public init(
        exchanges: Int = 1_000, deliveries: Int = 10_000, countedIDs: Int = 2_000_000, deviceQueue: Int = 10_000,
        observerQueue: Int = 10_000, frames: Int = 0
    ) {
        self.exchanges = max(0, exchanges)
        self.deliveries = max(0, deliveries)
        self.countedIDs = max(0, countedIDs)
        self.deviceQueue = max(1, deviceQueue)
        self.observerQueue = max(1, observerQueue)
        self.frames = max(0, frames)
    }
}
