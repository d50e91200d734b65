import APNsEmulation
import ClarionTesting
import Foundation
import RichPushModel
import Synchronization
import Testing

/// A Live Activity on phones whose tokens change, while nodes that move it are killed.
struct NodesActivityTests {
    private static let type = "DeliveryAttributes"
    private static let topic = Fleet.topic + ".push-type.liveactivity"

    /// A phone that shows what comes and reports to a node that answers.
    private final class Phone: Sendable {
        struct Shown {
            var stamp: Int64 = 0
            var revision: Int64 = 0
            var staleAt: Int64 = 0
            var isOver = false
        }

        private struct State {
            var startToken: String
            var token: String?
            var activity: Int64?
            var starts = 0
            var shown = Shown()
        }

        let caller: PhoneCaller
        private let apns: LocalAPNs
        private let state: Mutex<State>

        init(_ id: String, of user: APIClient, apns: LocalAPNs) async throws {
            self.apns = apns
            caller = try await PhoneCaller(id, of: user, apns: apns)
            state = Mutex(State(startToken: apns.issueToken(device: id, topic: NodesActivityTests.topic, name: "start")))
        }

        var shown: Shown { state.withLock { $0.shown } }
        var starts: Int { state.withLock { $0.starts } }

        /// Takes pushes until its stream ends.
        func follow() async {
            for await push in caller.pushes where push.topic == NodesActivityTests.topic { take(push) }
        }

        private func take(_ push: DeliveredPush) {
            guard let aps = (try? JSONDecoder().decode(JSONValue.self, from: Data(push.payload)))?.members?["aps"]?.members,
                let stamp = aps["timestamp"]?.wholeNumber,
                let revision = aps["content-state"]?.members?[ActivityKey.revision]?.wholeNumber
            else { return }
            state.withLock { state in
                if aps["event"] == .text("start") {
                    guard push.token == state.startToken.lowercased() else { return }
                    state.starts += 1
                    state.activity = aps["attributes"]?.members?[ActivityKey.id]?.wholeNumber
                } else {
                    guard push.token == state.token?.lowercased() else { return }
                }
                guard stamp > state.shown.stamp, !state.shown.isOver else { return }
                state.shown = Shown(
                    stamp: stamp, revision: revision, staleAt: aps["stale-date"]?.wholeNumber ?? .max,
                    isOver: aps["event"] == .text("end"))
            }
        }

        /// The system gives another token for the activity, and the one before is dead.
        func changeToken() {
            let token = apns.rotateToken(device: caller.id, topic: NodesActivityTests.topic, name: "activity")
            state.withLock { $0.token = token }
        }

        /// Reports at one of the nodes; whether that took it.
        func report(at address: String) async throws -> Bool {
            let report = state.withLock { state in
                var report = ActivityReport(startTokens: [NodesActivityTests.type: state.startToken])
                if let activity = state.activity, !state.shown.isOver {
                    report.activities = [
                        .init(id: activity, state: "active", token: state.token, revision: state.shown.revision)
                    ]
                }
                return report
            }
            let path = APIRoute.activityReport(try #require(InstallationID(caller.id)))
            return try await caller.at(address).call("PUT", path, json: report).status == 200
        }
    }

    /// Asks one node after the other, as a client behind a load balancer does, until one has done it.
    private func anyNode<Value>(
        of nodes: [ServerProcess], _ what: Comment, _ ask: (String) async throws -> Value?
    ) async throws -> Value {
        try await eventually(what) {
            for node in nodes.filter(\.isRunning).shuffled() {
                if let value = try? await ask(node.address) { return value }
            }
            return nil
        }
    }

    private func change(
        _ activity: Int64, to stage: Int, end: Bool? = nil, at nodes: [ServerProcess], _ fleet: Fleet
    ) async throws -> ActivityStatus {
        var change = ActivityChange(state: .object(["stage": .integer(Int64(stage))]))
        change.staleAt = SystemClock().now + .seconds(90)
        change.end = end
        return try await anyNode(of: nodes, "change \(stage) is taken") { address in
            let answer = try await fleet.caller(at: address).call("PATCH", APIRoute.activity(activity), json: change)
            return answer.status == 200 ? try answer.decoded(ActivityStatus.self) : nil
        }
    }

    @Test(
        "tokens change while two nodes are killed: every phone gets one start, the newest state with its stale date, and the end",
        .timeLimit(.minutes(10)))
    func killed() async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let fleet = try await Fleet(folder: folder, size: 0, shared: shared)
            let nodes = try await fleet.start(3, ["CLARION_PUSH_DEADLINE": "3s"])
            let phones = try await withThrowingTaskGroup { group in
                for number in 1...8 {
                    group.addTask {
                        try await Phone("phone-\(number)", of: fleet.caller(at: nodes[0].address), apns: fleet.apns)
                    }
                }
                return try await group.reduce(into: [Phone]()) { $0.append($1) }
            }
            try await withThrowingTaskGroup { group in
                for phone in phones { group.addTask { await phone.follow() } }
                try await run(phones, nodes, fleet)
                fleet.apns.endStreams()
                try await group.waitForAll()
            }
            for node in nodes where node.isRunning { #expect(await node.terminate() == 0) }
            await fleet.apns.shutdown()
        }
    }

    private func run(_ phones: [Phone], _ nodes: [ServerProcess], _ fleet: Fleet) async throws {
        for phone in phones { _ = try await anyNode(of: nodes, "a report") { try await phone.report(at: $0) ? true : nil } }
        var request = ActivityRequest(attributesType: Self.type, state: .object(["stage": .integer(0)]), audience: "username:ops")
        request.alert = ActivityAlert(title: "Your order", body: "It is packed.")
        let started = try await fleet.caller(at: nodes[1].address).call("POST", APIRoute.activities, json: request)
        try #require((200...202).contains(started.status), "\(String(decoding: started.body, as: UTF8.self))")
        let activity = try started.decoded(ActivityStatus.self).id
        _ = try await eventually("every phone starts it") { phones.allSatisfy { $0.starts > 0 } ? true : nil }
        for phone in phones { phone.changeToken() }
        var random = SystemRandomNumberGenerator()
        var newest = try await change(activity, to: 1, at: nodes, fleet)
        for step in 2...30 {
            if step == 10 || step == 20 {
                nodes[step / 10 - 1].kill()
                await nodes[step / 10 - 1].waitUntilGone()
            }
            newest = try await change(activity, to: step, at: nodes, fleet)
            for phone in phones where Int.random(in: 0..<5, using: &random) == 0 || step == 2 {
                phone.changeToken()
                _ = try await anyNode(of: nodes, "a report") { try await phone.report(at: $0) ? true : nil }
            }
            // As long as a push is on its way, so that kills meet some.
            try await Task.sleep(for: .milliseconds(100))
        }
        // Claims of a killed node end after a minute.
        _ = try await eventually("every phone shows revision \(newest.revision)", within: .seconds(150)) {
            phones.allSatisfy { $0.shown.revision == newest.revision } ? true : nil
        }
        #expect(phones.allSatisfy { $0.shown.staleAt != .max }, "without an update each of them would say that it is out of date")
        #expect(phones.map(\.starts) == Array(repeating: 1, count: phones.count))
        newest = try await change(activity, to: 31, end: true, at: nodes, fleet)
        _ = try await eventually("every phone ends it", within: .seconds(150)) {
            phones.allSatisfy { $0.shown.isOver && $0.shown.revision == newest.revision } ? true : nil
        }
    }
}
