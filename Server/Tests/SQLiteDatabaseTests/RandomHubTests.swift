import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors
import StorageConformance
import TagExpressions
import Testing

import struct RichPushModel.Tag

@testable import PushHub

@Suite("Registrations, installations, patches, lists and sends at random, against a simple model")
struct RandomHubTests {
    private static let tags = ["red", "Green", "blue"]
    private static let audiences: [String?] = [
        nil, "red", "!red", "red || BLUE", "red && !green", "(red || blue) && green", "nobody", "$InstallationId:{i3}",
        "$UserId:{ann}", "short", "!short && red", "red || short || blue",
    ]

    /// What the push service says of a handle, as the test has decided.
    private final class Fate: Sendable {
        private let fates = NIOLockedValueBox<[DeviceToken: PushOutcome]>([:])
        func set(_ fates: [DeviceToken: PushOutcome]) { self.fates.withLockedValue { $0 = fates } }
        func outcome(_ handle: DeviceToken) -> PushOutcome { fates.withLockedValue { $0[handle] ?? .accepted } }
    }

    /// A run: the hub, the model, and the dice.
    private struct Run {
        let bench: HubBench
        let fate: Fate
        let dispatcher: Dispatcher
        var model = HubModel()
        var random: SeededGenerator
        var seed: UInt64 { random.seed }

        mutating func dice(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        mutating func someTags() -> [Tag] { RandomHubTests.tags.filter { _ in Bool.random(using: &random) }.compactMap(Tag.init) }
        mutating func handle() -> DeviceToken { HubBench.handle(dice(0..<12)) }
        mutating func registration() -> RecordID { RecordID("r\(dice(0..<15))")! }
        mutating func installation() -> RecordID { RecordID("i\(dice(0..<8))")! }
        mutating func template(_ name: String?) -> DeviceTemplate {
            DeviceTemplate(name: name, body: #"{"aps":{"alert":"$(text)"},"n":"\#(name ?? "") \#(dice(0..<2))"}"#)
        }
    }

    private func run() async throws -> Run {
        let fate = Fate()
        let bench = try await HubBench { target, _ in fate.outcome(target.handle) }
        let random = SeededGenerator()
        print("seed \(random.seed)")
        return Run(bench: bench, fate: fate, dispatcher: bench.dispatcher { $0.window = 7 }, random: random)
    }

    @Test("after every step hub and model agree")
    func agreement() async throws {
        var run = try await run()
        for step in 1...600 {
            switch run.dice(0..<12) {
            case 0...2: try await upsert(&run)
            case 3...4: try await put(&run)
            case 5...6: try await patch(&run)
            case 7: try await remove(&run)
            case 8...9: try await send(&run, step)
            default: try await list(&run, step)
            }
            run.bench.clock.advance(by: .seconds(1))
            if step.isMultiple(of: 20) { try await compare(&run, step) }
        }
        try await compare(&run, 600)
    }

    private func upsert(_ run: inout Run) async throws {
        let id = run.registration()
        let isTemplate = run.dice(0..<3) == 0
        let name = ["short", "long", nil].randomElement(using: &run.random) ?? nil
        let version = run.model.rows[id]?.version
        let preconditions: [DevicePrecondition] = [.none, .none, .exists, .absent, .version(version ?? 1), .version(99)]
        let request = DeviceUpsert(
            id: id, kind: .registration, platform: run.dice(0..<5) == 0 ? .adm : .apns, handle: run.handle(),
            tags: run.someTags(), template: isTemplate ? run.template(name) : nil,
            precondition: preconditions.randomElement(using: &run.random) ?? .none)
        let expected: ServiceErrorCode? =
            switch request.precondition {
            case .none: nil
            case .exists: version == nil ? .notFound : nil
            case .absent: version == nil ? nil : .conflict
            case .version(let wanted): version == nil ? .notFound : wanted == version ? nil : .preconditionFailed
            }
        do {
            let record = try await run.bench.hub.upsert(request)
            #expect(expected == nil && record.version == (version ?? 0) + 1, "seed \(run.seed)")
            run.model.upsert(request)
        } catch let error as ServiceError {
            #expect(error.code == expected, "seed \(run.seed)")
        }
    }

    private func put(_ run: inout Run) async throws {
        var content = InstallationUpsert(
            id: run.installation(), handle: run.dice(0..<10) == 0 ? nil : run.handle(),
            userID: run.dice(0..<2) == 0 ? "ann" : nil, tags: run.someTags())
        for name in ["short", "long"] where run.dice(0..<2) == 0 {
            content.templates[name] = .init(run.template(name), tags: run.someTags())
        }
        try await run.bench.hub.put(content)
        run.model.put(content)
    }

    private func patch(_ run: inout Run) async throws {
        let id = run.installation()
        let (tags, handle, kind) = (run.someTags(), run.handle(), run.dice(0..<4))
        let template = run.template("short")
        @Sendable func change(_ content: inout InstallationUpsert) {
            switch kind {
            case 0: content.tags = tags
            case 1: content.handle = handle
            case 2: content.templates["short"] = .init(template, tags: tags)
            default: content.templates["long"] = nil
            }
        }
        guard var content = run.model.installations[id] else {
            let error = await #expect(throws: ServiceError.self) { try await run.bench.hub.update(installation: id, change) }
            #expect(error?.code == .notFound)
            return
        }
        try await run.bench.hub.update(installation: id, change)
        change(&content)
        run.model.put(content, keepsInactive: true)
    }

    private func remove(_ run: inout Run) async throws {
        let known = run.model.rows.keys.sorted()
        let id = run.dice(0..<4) == 0 ? run.registration() : known.randomElement(using: &run.random) ?? run.registration()
        #expect(try await run.bench.hub.removeDevice(id) == (run.model.rows[id] != nil), "seed \(run.seed)")
        run.model.remove(id)
    }
}

extension RandomHubTests {
    private func send(_ run: inout Run, _ step: Int) async throws {
        let format = [SendFormat.native(.apns), .native(.apns), .native(.adm), .template, .template].randomElement(
            using: &run.random)!
        let audience = try (Self.audiences.randomElement(using: &run.random) ?? nil).map { try TagExpression(parsing: $0) }
        let (dead, wrong) = (run.handle(), run.handle())
        var fates: [DeviceToken: PushOutcome] = [wrong: .badToken]
        fates[dead] = .gone(since: Timestamp(seconds: 4_000_000_000))
        run.fate.set(run.dice(0..<3) == 0 ? fates : [:])
        let before = run.bench.transport.batches.count
        let body = format == .template ? #"{"text":"\#(step)"}"# : #"{"aps":{"alert":"\#(step)"}}"#
        let receipt = try await run.bench.hub.send(
            SendCommand(
                message: PushMessage(body: Array(body.utf8)), format: format, recipients: SendRecipients(audience)))
        let end = try await run.bench.settle(receipt, run.dispatcher, step: .milliseconds(500))
        let meant = run.model.meant(audience, format)
        let sent = run.model.sent(meant)
        let pushed = run.bench.transport.batches.dropFirst(before).flatMap(\.targets).map(\.pushID)
        let what = "seed \(run.seed), step \(step), \(format.text) to \(audience.map(\.description) ?? "all")"
        let total = end.outcomes.values.reduce(0, +)
        #expect(end.state == .completed && total <= meant.count, "\(what)")
        // A handle that is found dead takes its other records out of what is left of the send.
        let expected = Set(sent.map { PushID(notification: receipt.id, record: $0.id) })
        let fated = sent.contains { run.fate.outcome($0.handle!) != .accepted }
        if fated {
            #expect(Set(pushed).isSubset(of: Set(meant.map { PushID(notification: receipt.id, record: $0.id) })), "\(what)")
        }
        if !fated { #expect(Set(pushed) == expected && pushed.count == expected.count && total == meant.count, "\(what)") }
        guard fated else { return }
        let ids = Set(pushed)
        let reached = meant.filter { ids.contains(PushID(notification: receipt.id, record: $0.id)) }
        for row in reached { if case .badToken = run.fate.outcome(row.handle!) { run.model.bad(row) } }
        for row in reached { if case .gone = run.fate.outcome(row.handle!) { run.model.gone(row.handle!) } }
    }

    private func list(_ run: inout Run, _ step: Int) async throws {
        let handles = [run.handle(), run.handle()]
        let tags = ["red", "BLUE", "short", "$UserId:{ann}", "$InstallationId:{i2}"].compactMap { Tag.stored($0) }
        let tag = tags.randomElement(using: &run.random)!
        let platform = [Platform.apns, .adm, nil].randomElement(using: &run.random) ?? nil
        let (selection, matches): (DeviceListRequest.Selection, (HubModel.Row) -> Bool) =
            switch run.dice(0..<3) {
            case 0: (.all, { _ in true })
            case 1: (.tag(tag), { $0.tags.contains(tag) })
            default:
                (
                    .handles(handles, platform: platform),
                    { handles.contains($0.handle!) && (platform == nil || $0.platform == platform) }
                )
            }
        let expected = run.model.rows.values.filter { $0.handle != nil && matches($0) }.sorted { $0.key < $1.key }.map(\.id)
        #expect(try await pages(&run, selection).map(\.id) == expected, "seed \(run.seed), step \(step)")
    }

    private func pages(_ run: inout Run, _ selection: DeviceListRequest.Selection) async throws -> [DeviceRecord] {
        var request = DeviceListRequest(selection, limit: run.dice(1..<9))
        var records: [DeviceRecord] = []
        while true {
            let page = try await run.bench.hub.devices(request)
            records += page.records
            guard let next = page.next, let again = SliceKey(token: next.token) else { return records }
            request.after = again
        }
    }

    /// Everything: each record with all that can be asked of it, and each installation.
    private func compare(_ run: inout Run, _ step: Int) async throws {
        let records = try await pages(&run, .all)
        let found = Set(
            records.map { record in
                HubModel.Row(
                    id: record.id, parent: record.parent, isInstallation: record.kind == .installation, platform: record.platform,
                    handle: record.handle, tags: record.matchingTags, template: record.template, version: record.version,
                    isInactive: record.inactiveAt != nil)
            })
        #expect(found == Set(run.model.rows.values.filter { $0.handle != nil }), "seed \(run.seed), step \(step)")
        for number in 0..<8 {
            let id = RecordID("i\(number)")!
            var expected = run.model.installations[id]
            expected?.confirmsHandle = false
            #expect(try await run.bench.hub.installation(id)?.content == expected, "seed \(run.seed), step \(step)")
        }
    }
}
