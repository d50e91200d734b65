import RichPushModel
import SQLStorage
import Testing

@testable import ServerStorage

@Suite("Whether anybody sends")
struct SendersWatchTests {
    /// What is told, and when, where nodes of these roles are there at these seconds.
    private func told(_ story: [(second: Int64, roles: [String])]) -> [Int64: SendersWatch.News] {
        var watch = SendersWatch(patience: .seconds(20))
        var told: [Int64: SendersWatch.News] = [:]
        for (second, roles) in story {
            let moment = Timestamp(seconds: second)
            let present = roles.enumerated().map { number, role in
                NodeMember(id: "\(number)", role: role, version: "1", schemaStep: nil, startedAt: moment, seenAt: moment)
            }
            told[second] = watch.saw(present, at: moment)
        }
        return told
    }

    @Test("is told once when nobody has sent for a while, and once when somebody does again")
    func once() {
        let news = told([
            (0, ["api"]), (19, ["api", "api"]), (20, ["api"]), (25, ["api"]), (100, []), (101, ["api", "worker"]),
            (102, ["worker"]), (103, ["api"]), (122, ["api"]), (123, ["api"]), (124, ["all"]),
        ])
        #expect(news == [20: .gone, 101: .back, 123: .gone, 124: .back])
    }

    @Test("nodes that are replaced one after the other are no news")
    func replaced() {
        #expect(
            told([(0, ["all"]), (5, ["api"]), (24, ["api"]), (25, ["all", "api"]), (44, ["api"]), (60, ["api", "all"])]) == [:])
    }

    @Test("a role that only a newer version knows may be one that sends")
    func newer() { #expect(told([(0, ["fast"]), (60, ["fast", "api"])]) == [:]) }
}
