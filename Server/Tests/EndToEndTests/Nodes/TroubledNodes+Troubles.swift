import Foundation

/// What goes wrong.
extension TroubledNodes {
    /// Any of them.
    func anyNode() -> TroubledNode { nodes[Int.random(in: nodes.indices, using: &random)] }

    /// A random time.
    func pause(_ range: ClosedRange<Int>) -> Duration { .milliseconds(Int.random(in: range, using: &random)) }

    /// From here on losses and events are counted anew.
    func forgive() { (losses, log) = (0, []) }

    func note(_ event: String, losses: Int) {
        self.losses += losses
        log.append(event)
    }

    /// PostgreSQL is restarted: what every node has just asked it to store has an unknown fate.
    func restartDatabase() async throws {
        try await server.restart()
        note("the database restarted", losses: nodes.count)
    }

    func kill(_ node: TroubledNode) async {
        await node.kill()
        note("node \(node.number) killed", losses: 1)
    }

    func cut(_ node: TroubledNode) {
        node.cut()
        note("node \(node.number) cut", losses: 1)
    }

    func isolate(_ node: TroubledNode) async throws {
        try await node.isolate()
        note("node \(node.number) isolated", losses: 1)
    }

    /// One thing that goes wrong and is over again, chosen by chance: after at most `wait` milliseconds, for at most `length`.
    func happen(wait: Int = 1_500, length: Int) async throws {
        try await Task.sleep(for: pause(100...wait))
        let node = anyNode()
        let pause = pause(100...length)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            await kill(node)
            try await Task.sleep(for: pause)
            try await node.start()
        case 3, 4: cut(node)
        case 5, 6:
            try await isolate(node)
            try await Task.sleep(for: pause)
            try await node.rejoin()
        default:
            let delay = self.pause(5...60)
            note("node \(node.number) slowed", losses: 0)
            try await node.slow(by: delay, for: pause)
        }
    }
}
