import ClarionTesting
import Logging
import SQLStorage
import Testing

@Suite("What the last writes say of a database")
struct WriteHealthTests {
    private let clock = ManualClock()

    private func health(after code: String) -> WriteHealth {
        let health = WriteHealth(clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        health.failed(SQLFault.unavailable(reason: "\(code): no room"))
        return health
    }

    @Test("one that is kept ends what was wrong")
    func ends() {
        let health = health(after: "SQLITE_FULL")
        #expect(health.lastFault == "SQLITE_FULL")
        health.succeeded()
        #expect(health.lastFault == nil)
    }

    @Test(
        "on a full disk of PostgreSQL small ones are kept beside larger ones that fail: they count when nothing has failed for a while"
    )
    func smallOnes() {
        let health = health(after: "disk_full")
        clock.advance(by: .seconds(14))
        health.succeeded()
        #expect(health.lastFault == "disk_full")
        health.failed(SQLFault.unavailable(reason: "disk_full: no room"))
        clock.advance(by: .seconds(14))
        health.succeeded()
        #expect(health.lastFault == "disk_full")
        clock.advance(by: .seconds(1))
        health.succeeded()
        #expect(health.lastFault == nil)
    }

    @Test(
        "something else that goes wrong meanwhile does not end a full disk", arguments: ["query_canceled", "connection_failure"])
    func somethingElse(code: String) {
        let health = health(after: "disk_full")
        health.failed(SQLFault.unavailable(reason: "\(code): by chance"))
        #expect(health.lastFault == "disk_full")
        health.succeeded()
        #expect(health.lastFault == "disk_full")
        clock.advance(by: .seconds(15))
        health.failed(SQLFault.unavailable(reason: "\(code): by chance"))
        #expect(health.lastFault == code)
        health.succeeded()
        #expect(health.lastFault == nil)
    }
}
