import ClarionTesting
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerObservability
import Testing

@Suite("Health")
struct HealthRoutesTests {
    private struct NotThere: Error {}

    private func call(_ path: String, checks: [ReadinessCheck], clock: ManualClock = ManualClock()) async throws -> (Int, String)
    {
        let router = Router()
        HealthRoutes(checks: checks, clock: clock).addRoutes(to: router)
        return try await Application(router: router).test(.router) { client in
            let response = try await client.executeRequest(uri: path, method: .get, headers: [:], body: nil)
            return (response.status.code, String(buffer: response.body))
        }
    }

    @Test("a process that answers is alive, whatever it waits for")
    func live() async throws {
        #expect(try await call("/livez", checks: [ReadinessCheck(name: "storage") { throw NotThere() }]) == (200, "ok\n"))
    }

    @Test("a process is ready when all that it needs is there, and says what is not")
    func ready() async throws {
        let fine = ReadinessCheck(name: "storage") {}
        let broken = ReadinessCheck(name: "apns") { throw NotThere() }
        #expect(try await call("/readyz", checks: [fine]) == (200, "ok storage\nready\n"))
        #expect(try await call("/readyz", checks: [fine, broken]) == (503, "ok storage\nfailed apns\nnot ready\n"))
        #expect(try await call("/readyz", checks: []) == (200, "ready\n"))
        let full = ReadinessCheck(name: "storage") { throw ReadinessFault("the disk is full (SQLITE_FULL)") }
        #expect(
            try await call("/readyz", checks: [full, fine])
                == (503, "failed storage: the disk is full (SQLITE_FULL)\nok storage\nnot ready\n"))
    }

    @Test("a check that hangs counts as failed after its time", .timeLimit(.minutes(5)))
    func hanging() async throws {
        let clock = ManualClock()
        let hanging = ReadinessCheck(name: "storage") { try await clock.sleep(for: .seconds(1_000)) }
        async let answer = call("/readyz", checks: [hanging], clock: clock)
        #expect(await eventually { clock.sleeperCount >= 2 })
        clock.advance(by: .seconds(2))
        #expect(try await answer == (503, "failed storage: no answer within 2 seconds\nnot ready\n"))
    }

    @Test("a check that hangs may say what it waits for", .timeLimit(.minutes(5)))
    func hangingForReason() async throws {
        let clock = ManualClock()
        let hanging = ReadinessCheck(name: "storage") {
            do { try await clock.sleep(for: .seconds(1_000)) } catch {
                throw ReadinessFault("another program holds the database")
            }
        }
        async let answer = call("/readyz", checks: [hanging], clock: clock)
        #expect(await eventually { clock.sleeperCount >= 2 })
        clock.advance(by: .seconds(2))
        #expect(try await answer == (503, "failed storage: another program holds the database\nnot ready\n"))
    }
}
