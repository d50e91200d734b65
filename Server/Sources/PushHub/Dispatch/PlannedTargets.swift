/// The targets of a page where they were read, and what is settled of them. Each is put together when it is asked for: of nearly
/// every page none is.
struct PlannedTargets: Hashable {
    enum Source: Hashable {
        case walk(SlicePage.Candidates)
        case retries([SlicePage.DueTarget])
    }

    private let source: Source
    /// One place for each target.
    private var outcomes: [TargetOutcome?]

    init(_ source: Source) {
        self.source = source
        let count =
            switch source {
            case .walk(let candidates): candidates.count
            case .retries(let due): due.count
            }
        outcomes = Array(repeating: nil, count: count)
    }

    func isSettled(_ index: Int) -> Bool { outcomes[index] != nil }

    func settled(_ index: Int) -> TargetOutcome? { outcomes[index] }

    /// Absent when the target went since the last try.
    func member(_ index: Int) -> AudienceMember? {
        switch source {
        case .walk(let candidates): candidates.member(index)
        case .retries(let due): due[index].member
        }
    }

    /// Visits the members at these places, in that order. The source is looked at once and not for each.
    func forEachMember(_ indices: [Int], _ body: (AudienceMember) -> Void) {
        switch source {
        case .walk(let candidates): candidates.forEachMember(indices, body)
        case .retries(let due): for index in indices { if let member = due[index].member { body(member) } }
        }
    }

    /// The handles of the members at these places, none of which is absent.
    func handles(_ indices: [Int]) -> PushTargets.Handles {
        switch source {
        case .walk(let candidates): .read(candidates, indices)
        case .retries(let due): .listed(indices.compactMap { due[$0].member?.handle })
        }
    }

    /// Settles as `badToken` whose text of a direct send is no handle of its platform; records have true ones.
    mutating func settleMalformed() {
        switch source {
        case .walk(let candidates):
            for index in outcomes.indices where outcomes[index] == nil && candidates.isDirect(index) {
                if candidates.member(index).isMalformed { outcomes[index] = .badToken }
            }
        case .retries(let due):
            for index in outcomes.indices where outcomes[index] == nil && due[index].member?.isMalformed == true {
                outcomes[index] = .badToken
            }
        }
    }

    mutating func settle(_ index: Int, _ outcome: TargetOutcome) { outcomes[index] = outcome }

    /// Leaves only the first targets.
    mutating func limit(to count: Int) { outcomes.removeSubrange(count...) }
}

extension PlannedTargets: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { outcomes.count }

    subscript(index: Int) -> PagePlan.Target {
        switch source {
        case .walk(let candidates):
            let member = candidates.member(index)
            return PagePlan.Target(key: member.key, member: member, settled: outcomes[index])
        case .retries(let due):
            let target = due[index].target
            return PagePlan.Target(key: target.key, member: due[index].member, pending: target, settled: outcomes[index])
        }
    }
}
