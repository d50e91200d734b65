import Foundation

/// How late schedules leave a node that has nothing else to do, and how long a send to one device takes to leave while a broadcast is
/// under way. Time is that of the arrival at the sink.
struct PunctualityBenchmark {
    /// Of the body that the sink counts apart, in bytes; that of a broadcast is longer.
    static let bodySize = 40
    /// Milliseconds, for each of them.
    static let limit = 1_000.0
    private static let schedules = 10
    private static let handle = String(repeating: "0123456789ABCDEF", count: 4)
    private static let body =
        #"{"aps":{"alert":""# + String(repeating: "x", count: bodySize - #"{"aps":{"alert":""}}"#.utf8.count) + #""}}"#

    let sink: Sink
    /// What a broadcast says.
    let message: String

    /// The figures of one engine.
    func rows(_ engine: String, _ node: RunningNode) throws -> [Measurement] {
        let hub = try HubCaller(node)
        let late = try lateness(hub)
        let beside = try besideBroadcast(hub, node)
        return [
            Measurement(
                name: "\(engine), a schedule leaves late by", unit: "ms", values: late, limit: Self.limit, isLimitForAll: true),
            Measurement(
                name: "\(engine), to one device beside a broadcast", unit: "ms", values: beside, limit: Self.limit,
                isLimitForAll: true),
        ]
    }

    /// Milliseconds by which schedules at whole seconds, one after the other, arrived after them.
    private func lateness(_ hub: HubCaller) throws -> [Double] {
        try hub.register(handle: Self.handle, tag: "punctual")
        let first = Int(Date().timeIntervalSince1970) + 3
        let seen = try sink.totals().marked
        for number in 0..<Self.schedules { try hub.schedule(Self.body, tag: "punctual", at: first + number) }
        return try (0..<Self.schedules).map { number in
            let late = try arrival(after: seen + number) - Double(first + number) * 1_000
            guard late >= 0 else { throw CommandRun.Fault("a schedule left \(-late) ms early") }
            return late
        }
    }

    /// Milliseconds from a request to the arrival of its push, one after the other for as long as broadcasts last.
    private func besideBroadcast(_ hub: HubCaller, _ node: RunningNode) throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<3 {
            let send = node.sendToEveryone(message)
            let before = try sink.totals().requests
            let broadcast = try RunningCommand(CommandRun.pinned(to: 1, send.command), environment: send.environment)
            while broadcast.isRunning, try sink.totals().requests < before + 10_000 { usleep(1_000) }
            while broadcast.isRunning {
                let seen = try sink.totals().marked
                let start = Date().timeIntervalSince1970 * 1_000
                try hub.send(Self.body, to: Self.handle)
                let arrival = try arrival(after: seen)
                if broadcast.isRunning { times.append(arrival - start) }
                usleep(50_000)
            }
            guard try broadcast.output().contains("Success") else { throw CommandRun.Fault("the broadcast did not end") }
        }
        return times
    }

    /// When the next of the marked pushes arrived, in milliseconds since 1970.
    private func arrival(after seen: Int) throws -> Double {
        for _ in 0..<30_000 {
            let totals = try sink.totals()
            guard totals.marked <= seen + 1 else { throw CommandRun.Fault("a push left twice") }
            if totals.marked == seen + 1 { return Double(totals.lastMarked) / 1_000 }
            usleep(1_000)
        }
        throw CommandRun.Fault("a push did not arrive")
    }
}
