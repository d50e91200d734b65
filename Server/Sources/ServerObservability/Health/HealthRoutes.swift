import HTTPTypes
import Hummingbird
import RichPushModel

/// `/livez`: the process answers. `/readyz`: it can do its work.
public struct HealthRoutes: Sendable {
    private let checks: [ReadinessCheck]
    private let timeout: Duration
    private let clock: any ServiceClock
    private let notes: @Sendable () -> [String]

    /// Creates the routes; a check that takes longer than `timeout` counts as failed. It is cancelled then, and may throw a
    /// `ReadinessFault` with what it waits for. `notes` are public texts about parts without which the node does its work.
    public init(
        checks: [ReadinessCheck], timeout: Duration = .seconds(2), clock: any ServiceClock = .system,
        notes: @escaping @Sendable () -> [String] = { [] }
    ) {
        self.checks = checks
        self.timeout = timeout
        self.clock = clock
        self.notes = notes
    }

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
        let remarks = notes().map { "note \($0)\n" }
        let end = isReady ? "ready\n" : "not ready\n"
        return Self.answer(isReady ? .ok : .serviceUnavailable, (lines + remarks).joined() + end)
    }

    private enum Verdict: Hashable {
        case passed
        /// With the reason, if it may be shown publicly.
        case failed(String?)
    }

    private static func line(_ name: String, _ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "ok \(name)"
        case .failed(let reason): "failed \(name)" + (reason.map { ": \($0)" } ?? "")
        }
    }

    private func verdict(_ check: ReadinessCheck) async -> Verdict {
        // `nil` is the end of the time.
        await withTaskGroup(of: Verdict?.self) { group in
            group.addTask {
                do {
                    try await check.check()
                    return .passed
                } catch { return .failed((error as? ReadinessFault)?.reason) }
            }
            group.addTask {
                try? await clock.sleep(for: timeout)
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            if case .some(.some(let verdict)) = first { return verdict }
            if case .some(.some(.failed(.some(let reason)))) = await group.next() { return .failed(reason) }
            return .failed("no answer within \(timeout.components.seconds) seconds")
        }
    }

    private static func answer(_ status: HTTPResponse.Status, _ text: String) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        if status == .serviceUnavailable { headers[.retryAfter] = "2" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

/// One thing that must work before the server takes requests, for example its storage.
public struct ReadinessCheck: Sendable {
    /// The name in the answer of `/readyz`.
    public let name: String
    /// Throws while the thing does not work. Only the reason of a `ReadinessFault` is shown to callers.
    public let check: @Sendable () async throws -> Void

    public init(name: String, check: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.check = check
    }
}

/// Why a part does not work, as a public text: no path, no address, no name of a database.
public struct ReadinessFault: Error, Hashable, CustomStringConvertible {
    /// A clause such as `the disk is full (SQLITE_FULL)`.
    public let reason: String

    public var description: String { reason }

    public init(_ reason: String) { self.reason = reason }
}
