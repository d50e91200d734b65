/// Which of a client's pushes go first when more wait than the connections take.
public enum APNsSendLane: Sendable, Hashable, CaseIterable {
    /// A few pushes that somebody waits for: they overtake the bulk ones that wait. Single pushes go this way by themselves.
    case express
    /// Many pushes: as fast as possible, behind the express ones. One of every eight pushes is bulk whatever else waits.
    case bulk
}
