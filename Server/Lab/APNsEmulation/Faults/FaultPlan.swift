/// The faults that wait for a request.
struct FaultPlan: Sendable {
    private struct Planned: Sendable {
        var fault: InjectedFault
        var remaining: Int
        var skip: Int
        /// Strikes every so many requests.
        var period: Int?
        var token: String?
    }

    private var planned: [Planned] = []

    mutating func add(_ fault: InjectedFault, count: Int, skip: Int, every period: Int?, token: String?) {
        guard count > 0 else { return }
        planned.append(Planned(fault: fault, remaining: count, skip: max(0, skip), period: period, token: token))
    }

    mutating func removeAll() { planned.removeAll() }

    /// The fault for a request to this device token, in lower case; the first that fits and is due is used up by one.
    /// Periodic faults count on their own, so that several of them overlap; of the others the first that fits counts alone.
    mutating func next(for token: String) -> InjectedFault? {
        var struck: Int?
        var hasCounted = false
        for index in planned.indices where planned[index].token == nil || planned[index].token == token {
            if planned[index].period == nil {
                if hasCounted { continue }
                hasCounted = true
            }
            if planned[index].skip > 0 {
                planned[index].skip -= 1
            } else if struck == nil {
                struck = index
            }
        }
        guard let struck else { return nil }
        return use(struck)
    }

    private mutating func use(_ index: Int) -> InjectedFault {
        let fault = planned[index].fault
        planned[index].remaining -= 1
        if let period = planned[index].period { planned[index].skip = period - 1 }
        if planned[index].remaining == 0 { planned.remove(at: index) }
        return fault
    }
}
