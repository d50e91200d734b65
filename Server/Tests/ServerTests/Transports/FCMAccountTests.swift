import ClarionTesting
import FCMEmulation
import Foundation
import PushHub
import RichPushModel
import Testing

@Suite("A long run of FCM through faults", .timeLimit(.minutes(60)))
struct FCMAccountTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let total = isLong ? 100_000 : 5_000
    /// Sent at the same time, as the workers of a node do.
    private static let batches = 4
    private static let size = isLong ? 1_000 : 250

    /// The faults of one round, spread: every kind that answers, or ends a stream or a connection.
    private static let faults: [(fault: FCMFault, times: Int)] = [
        (.tooManyRequests(.seconds(30)), 10), (.tooManyRequests(.date(inSeconds: 45)), 3), (.tooManyRequests(nil), 5),
        (.serverError, 2), (.badGateway, 2), (.unavailable(nil), 1),
        // In a row they make the project pause.
        (.unavailable(.seconds(20)), 4),
        (.goAway(processed: false), 1), (.goAway(processed: true), 1), (.resetStream, 2), (.loseAnswer, 1),
        // Once at a time: a push that hears of it twice waits for the operator.
        (.revokeTokens, 1),
    ]

    private func plan(at fcm: LocalFCM, _ random: inout SeededGenerator) {
        let waiting = Set(fcm.plannedFaults.map(\.fault))
        for (fault, times) in Self.faults.shuffled(using: &random) where !waiting.contains(fault) {
            fcm.inject(fault, times: times, after: .random(in: 0..<Self.batches * Self.size * 3 / 4, using: &random))
        }
    }

    @Test("each push has one end, and the sender's account agrees with the record of the local FCM for each phone")
    func account() async throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        try await FCMRig.run(
            RigTerms(deadline: .seconds(60)), messagesPerMinute: 60_000_000,
            adjusting: { $0.bounds.phoneEvents = 4_000_000 }
        ) { rig in
            let (phones, clock) = (try rig.devices(Self.total), rig.clock)
            let dead = Set(phones.indices.shuffled(using: &random).prefix(Self.total / 50))
            for phone in dead { try rig.remove(phones[phone]) }
            let news = rig.fcm.news
            async let record = FCMRecord(news)
            var account = SenderAccount(of: phones.indices.shuffled(using: &random))
            while let due = account.nextDue {
                try #require(account.rounds < 1_000)
                // Minutes between batches pass at once. Within one the time is the real one.
                if due > clock.uptime { clock.advance(by: due - clock.uptime) }
                if account.hasUntried { plan(at: rig.fcm, &random) }
                let batches = account.takeDue(at: clock.uptime, batches: Self.batches, size: Self.size)
                for (phone, outcome) in try await outcomes(of: batches, to: phones, at: rig) {
                    account.note(outcome, of: phone, at: clock.uptime)
                }
            }
            await rig.close()
            await rig.endService()
            compare(account, await record, dead: dead, after: clock.uptime)
        }
    }

    /// Sends batches at the same time.
    private func outcomes(
        of batches: [[Int]], to phones: [DeviceToken], at rig: FCMRig
    ) async throws -> [(phone: Int, outcome: PushOutcome)] {
        let results = await withTaskGroup(of: (batch: [Int], outcomes: PushOutcomes).self) { tasks in
            for batch in batches {
                let pushes = TransportPromises.batch(batch.map { phones[$0] }, at: rig)
                tasks.addTask { (batch, await rig.transport.send(pushes)) }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        for result in results { try #require(result.outcomes.count == result.batch.count) }
        return results.flatMap { Array(zip($0.batch, $0.outcomes)) }
    }

    private func compare(_ account: SenderAccount, _ record: FCMRecord, dead: Set<Int>, after uptime: Duration) {
        let wrong = account.entries.indices.filter { phone in
            let (own, name) = (account.entries[phone], "phone-\(phone)")
            let (taken, putOff) = (record.taken[name, default: 0], record.putOff[name, default: 0])
            // What the local FCM did beyond the sender's account went with a lost answer.
            let isEndTrue =
                dead.contains(phone) ? own.isGone && taken == 0 : own.isAccepted && (1...1 + own.unknown).contains(taken)
            return !isEndTrue || !(own.putOff...own.putOff + own.unknown).contains(putOff)
                || record.delivered[name, default: 0] != taken
        }
        let examples = wrong.prefix(5).map { "\($0): \(account.entries[$0]), taken \(record.taken["phone-\($0)", default: 0])" }
        #expect(wrong.isEmpty, "\(wrong.count) phones, among them \(examples)")
        let unknown = account.entries.reduce(0) { $0 + $1.unknown }
        let repeats = record.taken.values.reduce(0, +) - (Self.total - dead.count)
        let strikes = Self.faults.map { record.strikes[$0.fault, default: 0] }
        #expect(!strikes.contains(0), "\(record.strikes)")
        // A connection has at most a hundred streams.
        #expect(repeats <= min(unknown, 100 * record.strikes[.loseAnswer, default: 0]))
        #expect((dead.count...dead.count + unknown).contains(record.unregistered))
        let renewals = record.strikes[.revokeTokens, default: 0] + Int(uptime / .seconds(3_000))
        #expect((1...1 + renewals).contains(record.grants), "\(record.grants) access tokens, \(renewals) renewals at most")
        print(
            """
            \(Self.total) pushes through \(strikes.reduce(0, +)) faults in \(account.rounds) rounds and \(uptime): \(dead.count) dead, \
            \(unknown) unknown, \(repeats) repeated, \(record.grants) access tokens
            """)
    }
}

/// The sender's account: how each push ended, and when it is tried again, as a hub decides it.
private struct SenderAccount {
    struct Entry {
        var end: PushOutcome?
        /// Tries that FCM refused for now, and tries without an answer.
        var putOff = 0
        var unknown = 0

        var isAccepted: Bool { end == .accepted }
        var isGone: Bool { end?.isGone == true }
    }

    private(set) var entries: [Entry]
    private(set) var rounds = 0
    private var waiting: [(phone: Int, due: Duration)]

    /// The phones get their first push in this order.
    init(of phones: [Int]) {
        entries = Array(repeating: Entry(), count: phones.count)
        waiting = phones.map { ($0, .zero) }
    }

    /// `nil` when each push has ended.
    var nextDue: Duration? { waiting.lazy.map(\.due).min() }

    /// They come before all that was tried.
    var hasUntried: Bool { waiting.first?.due == .zero }

    mutating func takeDue(at uptime: Duration, batches: Int, size: Int) -> [[Int]] {
        var due: [Int] = []
        waiting.removeAll { push in
            guard push.due <= uptime, due.count < batches * size else { return false }
            due.append(push.phone)
            return true
        }
        rounds += 1
        return stride(from: 0, to: due.count, by: size).map { Array(due[$0..<min($0 + size, due.count)]) }
    }

    mutating func note(_ outcome: PushOutcome, of phone: Int, at uptime: Duration) {
        let pause: Duration
        switch outcome {
        case .retry(let after, _):
            entries[phone].putOff += 1
            pause = after
        case .unknown:
            entries[phone].unknown += 1
            pause = .seconds(2)
        case .unavailable(_, let after): pause = after ?? .seconds(1)
        case .notSent: pause = .seconds(1)
        // Of the others none belongs here but the two that end a push.
        default:
            entries[phone].end = outcome
            return
        }
        waiting.append((phone, uptime + pause))
    }
}

/// What the local FCM says: by the names of the phones how many messages it took, and how many of them arrived.
private struct FCMRecord: Sendable {
    var taken: [String: Int] = [:]
    var delivered: [String: Int] = [:]
    /// Requests that it refused for now.
    var putOff: [String: Int] = [:]
    var unregistered = 0
    /// Access tokens that it gave.
    var grants = 0
    var strikes: [FCMFault: Int] = [:]

    /// Reads to the end of the service.
    init(_ news: AsyncStream<FCMNews>) async {
        for await one in news {
            switch one {
            case .exchange(let exchange): note(exchange)
            case .delivery(let delivery): if delivery.state == .delivered { delivered[delivery.device, default: 0] += 1 }
            }
        }
    }

    private mutating func note(_ exchange: FCMExchange) {
        if let fault = exchange.fault { strikes[fault, default: 0] += 1 }
        if exchange.path == "token", exchange.status == 200 { grants += 1 }
        if exchange.errorCode == "UNREGISTERED" { unregistered += 1 }
        guard let phone = exchange.device else { return }
        if exchange.messageID != nil { taken[phone, default: 0] += 1 }
        if [429, 500, 502, 503].contains(exchange.status) { putOff[phone, default: 0] += 1 }
    }
}
