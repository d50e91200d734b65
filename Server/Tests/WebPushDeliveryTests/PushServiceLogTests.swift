import ClarionTesting
import Logging
import PushHub
import Testing

@testable import WebPushDelivery

@Suite("The log of push services that fail")
struct PushServiceLogTests {
    private let notes = LogNotes()

    private static let failing = round(failed: 1)
    private static let served = round(served: 1)

    private static func round(
        served: Int = 0, failed: Int = 0, refused: Int = 0, cause: String = "nothing answers"
    ) -> PushServiceRound {
        PushServiceRound(served: served, failed: failed, cause: cause, refused: refused)
    }

    /// Notes rounds, each a second after the one before.
    private func note(
        _ rounds: [PushServiceRound], _ log: PushServiceLog, of host: String = "a.example", isProven: Bool = false,
        from second: Int = 0
    ) {
        for (number, round) in rounds.enumerated() {
            log.note(round, of: "https://\(host)", isProven: isProven, hub: HubID(7), at: .seconds(second + number))
        }
    }

    private var levels: [Logger.Level] { notes.lines.map(\.level) }
    private var hosts: [String?] { notes.lines.map { $0.metadata["host"] } }
    private var counts: [String?] { notes.lines.map { $0.metadata["count"] } }

    @Test("two failures in a row are none of the push service, the third begins it")
    func begin() {
        let log = PushServiceLog(notes.logger)
        note([Self.failing, Self.failing, Self.served, Self.failing, Self.failing], log)
        #expect(notes.lines.isEmpty)
        note([Self.failing], log, from: 5)
        #expect(levels == [.warning])
        #expect(counts == ["3"])
    }

    @Test("while it lasts, a line comes every five minutes, with the latest cause and what failed since the last one")
    func last() {
        let log = PushServiceLog(notes.logger)
        note([Self.round(failed: 3)] + Array(repeating: Self.failing, count: 299), log)
        #expect(levels == [.warning])
        note([Self.round(failed: 1, cause: "status 503")], log, from: 300)
        #expect(levels == [.warning, .warning])
        #expect(counts == ["3", "300"])
        #expect(notes.lines.last?.metadata["reason"] == "status 503")
    }

    @Test("its end is said once, and a trouble that comes and goes fills no log")
    func end() {
        let log = PushServiceLog(notes.logger)
        for second in 0..<100 { note([Self.round(failed: 3), Self.served], log, from: second) }
        #expect(levels == [.warning, .notice])
        note([Self.round(failed: 3), Self.served, Self.served], log, from: 300)
        #expect(levels == [.warning, .notice, .warning, .notice])
    }

    @Test("a few failures among many pushes are no trouble, and a tenth of them is")
    func share() {
        let log = PushServiceLog(notes.logger)
        note([Self.round(served: 91, failed: 9)], log)
        #expect(notes.lines.isEmpty)
        note([Self.round(served: 90, failed: 10)], log)
        #expect(levels == [.warning])
    }

    @Test("one browser whose push service refuses this server is no trouble once it has accepted another, and three are")
    func refusal() {
        let log = PushServiceLog(notes.logger)
        let refused = Self.round(failed: 1, refused: 1)
        note([refused, refused], log, isProven: true)
        #expect(notes.lines.isEmpty)
        note([refused], log, isProven: true)
        #expect(levels == [.error])
        note([refused], log, of: "b.example")
        #expect(hosts == ["a.example", "b.example"])
    }

    @Test("browsers that name many hosts fill no log, and keep no push service that has worked from it")
    func manyHosts() {
        let log = PushServiceLog(notes.logger)
        for number in 0..<200 { note([Self.round(failed: 3)], log, of: "x\(number).example") }
        #expect(notes.lines.count == PushServiceLog.capacity)
        note([Self.round(failed: 3)], log, of: "real.example", isProven: true, from: 1)
        #expect(hosts.last == "real.example")
        note([Self.served], log, of: "real.example", isProven: true, from: 2)
        #expect(levels.last == .notice)
        for number in 0..<200 { note([Self.round(failed: 3)], log, of: "y\(number).example", from: 299) }
        #expect(notes.lines.count == PushServiceLog.capacity + 2)
    }

    @Test("a host without a failure for five minutes gives its place to another one")
    func oldHosts() {
        let log = PushServiceLog(notes.logger)
        for number in 0..<PushServiceLog.capacity { note([Self.round(failed: 3)], log, of: "x\(number).example") }
        note([Self.round(failed: 3)], log, of: "late.example", from: 299)
        #expect(hosts.last != "late.example")
        note([Self.round(failed: 3)], log, of: "late.example", from: 300)
        #expect(hosts.last == "late.example")
    }
}
