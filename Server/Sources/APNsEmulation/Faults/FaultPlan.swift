/// The faults that wait for a request.
struct FaultPlan: Sendable {
    private struct Planned: Sendable {
        var fault: InjectedFault
        var remaining: Int
        var skip: Int
        var token: String?
    }

    private var planned: [Planned] = []

    mutating func add(_ fault: InjectedFault, count: Int, skip: Int, token: String?) {
        guard count > 0 else { return }
        planned.append(Planned(fault: fault, remaining: count, skip: max(0, skip), token: token))
    }

    mutating func removeAll() { planned.removeAll() }

    /// The fault for a request to this device token, in lower case; the first that fits is used up by one.
    mutating func next(for token: String) -> InjectedFault? {
        guard let index = planned.firstIndex(where: { $0.token == nil || $0.token == token }) else { return nil }
        if planned[index].skip > 0 {
            planned[index].skip -= 1
            return nil
        }
        planned[index].remaining -= 1
        let fault = planned[index].fault
        if planned[index].remaining == 0 { planned.remove(at: index) }
        return fault
    }
}
