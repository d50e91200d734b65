/// What a connection does with a request.
struct Verdict: Sendable {
    /// Absent when a fault swallows the request.
    var answer: APNsAnswer?
    var fault: InjectedFault?
}
