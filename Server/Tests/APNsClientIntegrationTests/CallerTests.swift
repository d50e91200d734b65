import APNsEmulation
import APNsHTTP2
import APNsProtocol
import ClarionTesting
import NIOCore
import NIOPosix
import Testing

@Suite("Where callers wait and go on", .timeLimit(.minutes(10)))
struct CallerTests {
    /// A caller that lives on an event loop.
    private actor Resident {
        private let loop: any EventLoop
        private nonisolated let executor: any SerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init(on loop: any EventLoop) {
            self.loop = loop
            executor = loop.executor
        }

        /// Sends one after the other; how many were accepted, each with this actor on its loop before and after.
        func send(_ pushes: [APNsPush], with client: APNsClient) async -> Int {
            var accepted = 0
            for push in pushes {
                loop.preconditionInEventLoop()
                if await client.send(push).isAccepted { accepted += 1 }
                loop.preconditionInEventLoop()
            }
            return accepted
        }
    }

    @Test("callers on an event loop go on there, whether or not the client lives on it")
    func residents() async throws {
        try await LocalService.run { service in
            let pushes = service.pushes(120)
            let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
            let accepted = await withTaskGroup(of: Int.self) { tasks in
                for caller in 0..<4 {
                    let resident = Resident(on: loops[caller % loops.count])
                    let share = Array(pushes[(caller * 30)..<(caller * 30 + 30)])
                    tasks.addTask { await resident.send(share, with: service.client) }
                }
                return await tasks.reduce(0, +)
            }
            #expect(accepted == 120)
            #expect(service.apns.acceptanceCounts.count == 120)
        }
    }

    @Test("a caller on the global pool does not stay on the client's event loop")
    func poolCaller() async throws {
        try await LocalService.run { service in
            let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
            for push in service.pushes(20) {
                #expect(await service.client.send(push).isAccepted)
                #expect(!Self.isOnLoop(loops))
            }
        }
    }

    private static func isOnLoop(_ loops: [any EventLoop]) -> Bool { loops.contains { $0.inEventLoop } }

    @Test("a caller on the main actor comes back to it")
    func mainActor() async throws {
        try await LocalService.run { service in
            #expect(await Self.sendOnMainActor(service.pushes(1)[0], service.client).isAccepted)
        }
    }

    @MainActor
    private static func sendOnMainActor(_ push: APNsPush, _ client: APNsClient) async -> APNsOutcome {
        let outcome = await client.send(push)
        MainActor.preconditionIsolated()
        return outcome
    }

    @Test("a task that is cancelled before or while it waits gets its outcome at once")
    func cancelled() async throws {
        var rules = EmulationRules()
        rules.answerDelay = .seconds(3600)
        try await LocalService.run(rules: rules) { service in
            let pushes = service.pushes(40)
            let outcomes = await withTaskGroup(of: APNsOutcome.self) { tasks in
                for push in pushes { tasks.addTask { await service.client.send(push) } }
                tasks.cancelAll()
                return await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 40)
            for outcome in outcomes {
                #expect([.notSent(.cancelled), .unknown(.cancelled)].contains(outcome))
            }
            await service.expect { $0.inFlight == 0 && $0.queued == 0 }
        }
    }
}

@Suite("A client on several event loops", .timeLimit(.minutes(10)))
struct SeveralLoopsTests {
    private func run(_ body: (LocalService, APNsClient) async throws -> Void) async throws {
        try await LocalService.run { service in
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
            var configuration = service.configuration
            configuration.eventLoops = 3
            let client = try APNsClient(configuration: configuration, eventLoopGroup: group, logger: LogNotes().logger)
            do {
                try await body(service, client)
            } catch {
                await client.shutdown(within: .seconds(1))
                try await group.shutdownGracefully()
                throw error
            }
            await client.shutdown(within: .seconds(5))
            #expect(client.metrics.connections == 0)
            #expect(client.metrics.inFlight == 0)
            try await group.shutdownGracefully()
        }
    }

    @Test("a large batch goes over all of them and comes back in order")
    func batch() async throws {
        try await run { service, client in
            var pushes = service.pushes(900)
            let bad = [0, 299, 300, 450, 899]
            for index in bad { pushes[index] = service.push(String(repeating: "ab", count: 32)) }
            let outcomes = await client.send(pushes)
            #expect(outcomes.count == 900)
            for index in outcomes.indices {
                if bad.contains(index) {
                    #expect(outcomes[index].reason == .badDeviceToken)
                } else {
                    guard case .accepted(let id, _) = outcomes[index] else {
                        Issue.record("\(index): \(outcomes[index])")
                        continue
                    }
                    #expect(id == pushes[index].apnsID)
                }
            }
            #expect(service.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
            #expect(client.metrics.connected >= 3)
            #expect(client.metrics.accepted == 895)
            #expect(client.metrics.rejected == 5)
        }
    }

    @Test("single pushes use all of them, and all share one provider token")
    func singles() async throws {
        try await run { service, client in
            let pushes = service.pushes(200)
            let accepted = await withTaskGroup(of: Bool.self) { tasks in
                for push in pushes { tasks.addTask { await client.send(push).isAccepted } }
                return await tasks.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(accepted == 200)
            #expect(client.metrics.connected >= 3)
        }
    }
}
