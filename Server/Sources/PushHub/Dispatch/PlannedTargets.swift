/// The targets of a page where they were read, and what is settled of them. Each is put together when it is asked for: of nearly
/// every page none is.
struct PlannedTargets: Hashable {
    enum Source: Hashable {
        case walk([SlicePage.Candidate])
        case retries([SlicePage.DueTarget])
    }

    private let source: Source
    /// One place for each target.
    private var settled: [TargetOutcome?]

    init(_ source: Source) {
        self.source = source
        let count =
            switch source {
            case .walk(let candidates): candidates.count
            case .retries(let due): due.count
            }
        settled = Array(repeating: nil, count: count)
    }

    func isSettled(_ index: Int) -> Bool { settled[index] != nil }

    /// Absent when the target went since the last try.
    func member(_ index: Int) -> AudienceMember? {
        switch source {
        case .walk(let candidates): candidates[index].member
        case .retries(let due): due[index].member
        }
    }

    mutating func settle(_ index: Int, _ outcome: TargetOutcome) { settled[index] = outcome }

    /// Leaves only the first targets.
    mutating func limit(to count: Int) { settled.removeSubrange(count...) }
}

extension PlannedTargets: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { settled.count }

    subscript(index: Int) -> PagePlan.Target {
        switch source {
        case .walk(let candidates):
            let member = candidates[index].member
            return PagePlan.Target(key: member.key, member: member, settled: settled[index])
        case .retries(let due):
            let target = due[index].target
            return PagePlan.Target(key: target.key, member: due[index].member, pending: target, settled: settled[index])
        }
    }
}
