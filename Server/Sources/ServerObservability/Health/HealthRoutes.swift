import HTTPTypes
import Hummingbird
import RichPushModel

/// `/livez`: the process answers. `/readyz`: it can do its work.
public struct HealthRoutes: Sendable {
    private let checks: [ReadinessCheck]
    private let timeout: Duration
    private let clock: any ServiceClock

    /// Creates the routes; a check that takes longer than `timeout` counts as failed.
    public init(checks: [ReadinessCheck], timeout: Duration = .seconds(2), clock: any ServiceClock = .system) {
        self.checks = checks
        self.timeout = timeout
        self.clock = clock
    }

    /// Adds `GET /livez` and `GET /readyz`.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get("/livez") { _, _ in Self.answer(.ok, "ok\n") }
        router.get("/readyz") { _, _ in await readiness() }
    }

    private func readiness() async -> Response {
        let results = await withTaskGroup(of: (Int, Verdict).self) { group in
            for (index, check) in checks.enumerated() { group.addTask { (index, await verdict(check)) } }
            return await group.reduce(into: [Int: Verdict]()) { $0[$1.0] = $1.1 }
        }
        let lines = checks.enumerated().map { index, check in "\(Self.line(check.name, results[index] ?? .failed(nil)))\n" }
        let isReady = results.values.allSatisfy { $0 == .passed }
        return Self.answer(isReady ? .ok : .serviceUnavailable, lines.joined() + (isReady ? "ready\n" : "not ready\n"))
    }

    private enum Verdict: Hashable {
        case passed
        /// With the reason, when anybody may read it.
        case failed(String?)
    }

    private static func line(_ name: String, _ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "ok \(name)"
        case .failed(let reason): "failed \(name)" + (reason.map { ": \($0)" } ?? "")
        }
    }

    private func verdict(_ check: ReadinessCheck) async -> Verdict {
        await withTaskGroup(of: Verdict.self) { group in
            group.addTask {
                do {
                    try await check.check()
                    return .passed
                } catch { return .failed((error as? ReadinessFault)?.reason) }
            }
            group.addTask {
                try? await clock.sleep(for: timeout)
                return .failed(nil)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed(nil)
        }
    }

    private static func answer(_ status: HTTPResponse.Status, _ text: String) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        if status == .serviceUnavailable { headers[.retryAfter] = "2" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
