import RichPushModel
import SQLStorage
import Testing

@testable import ServerStorage

@Suite("Whether any node sends")
struct SendersWatchTests {
    /// The changes by second, for nodes of these roles at these seconds.
    private func changes(_ story: [(second: Int64, roles: [String])]) -> [Int64: SendersWatch.Change] {
        var watch = SendersWatch(absence: .seconds(20))
        var changes: [Int64: SendersWatch.Change] = [:]
        for (second, roles) in story {
            let moment = Timestamp(seconds: second)
            let present = roles.enumerated().map { number, role in
                NodeMember(id: "\(number)", role: role, version: "1", schemaStep: nil, startedAt: moment, seenAt: moment)
            }
            changes[second] = watch.saw(present, at: moment)
        }
        return changes
    }

    @Test("is reported once when no node has sent for a while, and once when a node sends again")
    func once() {
        let found = changes([
            (0, ["api"]), (19, ["api", "api"]), (20, ["api"]), (25, ["api"]), (100, []), (101, ["api", "worker"]),
            (102, ["worker"]), (103, ["api"]), (122, ["api"]), (123, ["api"]), (124, ["all"]),
        ])
        #expect(found == [20: .gone, 101: .back, 123: .gone, 124: .back])
    }

    @Test("nodes that are replaced one after the other are not reported")
    func replaced() {
        #expect(
            changes([(0, ["all"]), (5, ["api"]), (24, ["api"]), (25, ["all", "api"]), (44, ["api"]), (60, ["api", "all"])]) == [:]
        )
    }

    @Test("a role that only a newer version knows may be one that sends")
    func newer() { #expect(changes([(0, ["fast"]), (60, ["fast", "api"])]) == [:]) }
}
