import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

/// What a `BindingStore` promises.
public enum BindingStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keepsADevice, changesMakeNewOnes, refusesTheDevicesOfOthers, handsOver, replacesTheHandle, issuesWithTheBinding,
        wantsThePresentedCredential, wantsTheVerifiedPassword, unbindsWhatWasSeen, remembers, bindsOnce,
        notesChanges, notesWhatItBinds,
    ]

    private typealias Sample = BackendSample

    /// Binds, and expects it to hold.
    @discardableResult
    private static func bind(
        _ device: BoundDevice, to user: User, with credential: BindingCredential = .password(version: 1), mark: Int64 = 1,
        in store: any BackendStore, at now: Timestamp = Sample.start
    ) async throws -> (binding: Binding, replaced: [RecordID]) {
        guard
            case .bound(let binding, let replaced, _) = try await store.bind(
                device, to: user.id, with: credential, mark: mark, at: now)
        else { throw Sample.Unexpected(what: "the device was not bound") }
        return (binding, replaced)
    }

    private static let keepsADevice = StoragePromise<any BackendStore>(
        "a binding comes back as it was made, with all that the device says"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        var device = try Sample.device("phone-1", handle: 1, tags: ["username:ada", "Ä", "\u{308}x", "x:1"])
        (device.environment, device.topic, device.sealingKey) = ("sandbox", "org.example.app", "a2V5")
        let (binding, replaced) = try await bind(device, to: ada, in: store)
        #expect(binding.device == device && binding.user == ada.id && binding.from == Sample.start && binding.until == nil)
        #expect(replaced.isEmpty)
        #expect(try await store.currentBinding(of: device.record) == binding)
        #expect(try await store.currentBinding(of: try #require(RecordID("PHONE-1"))) == nil)
        #expect(try await bind(device, to: ada, in: store, at: Sample.time(9)).binding == binding, "the same again is the same")
        let error = await #expect(throws: ServiceError.self) {
            _ = try await store.bind(device, to: UserID(99), with: .password(version: 1), mark: 1, at: Sample.start)
        }
        #expect(error != nil)
    }

    private static let changesMakeNewOnes = StoragePromise<any BackendStore>(
        "a change closes the binding and begins another with a higher number"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let first = try await bind(try Sample.device("phone-1", handle: 1, tags: ["a"]), to: ada, in: store).binding
        let second = try await bind(
            try Sample.device("phone-1", handle: 1, tags: ["b"]), to: ada, in: store, at: Sample.time(5)
        ).binding
        #expect(second.number > first.number && second.from == Sample.time(5))
        let all = try await store.bindings(of: ada.id, since: OrderNumber(0), limit: 10)
        #expect(all.map(\.number) == [second.number, first.number])
        #expect(all.map(\.until) == [nil, Sample.time(5)])
        #expect(try await store.bindings(of: ada.id, since: .last, limit: 10).map(\.number) == [second.number])
        #expect(try await store.bindings(of: ada.id, since: OrderNumber(0), limit: 1).map(\.number) == [second.number])
    }

    private static let refusesTheDevicesOfOthers = StoragePromise<any BackendStore>(
        "a record of another user is refused unless its handle is the same"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let device = try Sample.device("phone-1", handle: 1)
        try await bind(device, to: ada, in: store)
        for handle in [2, nil] {
            let outcome = try await store.bind(
                try Sample.device("phone-1", handle: handle), to: bob.id, with: .password(version: 1), mark: 1, at: Sample.time(1)
            )
            #expect(outcome == .heldByAnother)
        }
        #expect(try await store.currentBinding(of: device.record)?.user == ada.id)
    }

    private static let handsOver = StoragePromise<any BackendStore>(
        "a phone that changed hands ends the binding and the credential of who had it"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let device = try Sample.device("phone-1", handle: 1)
        try await bind(device, to: ada, with: .issue(try Sample.credential("phone-1", of: ada, digest: 1)), in: store)
        let binding = try await bind(device, to: bob, in: store, at: Sample.time(4)).binding
        #expect(binding.user == bob.id && binding.from == Sample.time(4))
        #expect(try await store.credential(of: try #require(InstallationID("phone-1"))) == nil)
        #expect(try await store.bindings(of: ada.id, since: OrderNumber(0), limit: 9).map(\.until) == [Sample.time(4)])
    }

    private static let replacesTheHandle = StoragePromise<any BackendStore>(
        "other records of the handle are closed, of any user, with their credentials"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        for (phone, user) in [("phone-1", ada), ("phone-2", bob)] {
            try await bind(
                try Sample.device(phone, handle: phone == "phone-1" ? 1 : 2), to: user,
                with: .issue(try Sample.credential(phone, of: user, digest: 1)), in: store)
        }
        let (_, replaced) = try await bind(try Sample.device("phone-3", handle: 1), to: bob, in: store, at: Sample.time(3))
        #expect(replaced.map(\.text) == ["phone-1"])
        #expect(
            try await store.bindingState(of: try #require(RecordID("phone-1"))) == BindingState(binding: nil, credential: nil))
        #expect(try await store.currentBinding(of: try #require(RecordID("phone-2"))) != nil)
        for phone in ["phone-4", "phone-5"] {
            let none = try await bind(try Sample.device(phone, handle: nil), to: ada, in: store, at: Sample.time(4)).replaced
            #expect(none.isEmpty, "records without a handle do not replace each other")
        }
    }

    private static let issuesWithTheBinding = StoragePromise<any BackendStore>(
        "a credential is stored with the binding, in place of the one before, and not without it"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let device = try Sample.device("phone-1", handle: 1)
        for digest in [UInt8(1), 2] {
            try await bind(device, to: ada, with: .issue(try Sample.credential("phone-1", of: ada, digest: digest)), in: store)
            #expect(try await store.bindingState(of: device.record).credential == Array(repeating: digest, count: 32))
        }
        let refused = try await store.bind(
            try Sample.device("phone-1", handle: 2), to: bob.id,
            with: .issue(try Sample.credential("phone-1", of: bob, digest: 9)), mark: 1,
            at: Sample.start)
        #expect(refused == .heldByAnother)
        #expect(try await store.bindingState(of: device.record).credential == Array(repeating: 2, count: 32))
    }

    private static let wantsTheVerifiedPassword = StoragePromise<any BackendStore>(
        "a caller whose password was changed since it was verified binds nothing"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let device = try Sample.device("phone-1", handle: 1)
        #expect(try await store.endSessions(of: ada.id, isDisabled: true, at: Sample.start, audit: nil))
        let outcome = try await store.bind(device, to: ada.id, with: .password(version: 1), mark: 1, at: Sample.start)
        #expect(outcome == .credentialReplaced)
        #expect(try await store.currentBinding(of: device.record) == nil)
        try await bind(device, to: ada, with: .password(version: 2), in: store)
    }

    private static let wantsThePresentedCredential = StoragePromise<any BackendStore>(
        "a client with a credential that is no longer the record's changes nothing"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        let device = try Sample.device("phone-1", handle: 1)
        try await bind(device, to: ada, with: .issue(try Sample.credential("phone-1", of: ada, digest: 2)), in: store)
        let moved = try Sample.device("phone-1", handle: 7)
        for digest in [[UInt8](repeating: 1, count: 32), []] {
            let outcome = try await store.bind(moved, to: ada.id, with: .presented(digest), mark: 1, at: Sample.time(1))
            #expect(outcome == .credentialReplaced)
        }
        #expect(try await store.currentBinding(of: device.record)?.device == device)
        let (binding, _) = try await bind(moved, to: ada, with: .presented(Array(repeating: 2, count: 32)), in: store)
        #expect(binding.device.handle == Sample.handle(7))
        #expect(try await store.bindingState(of: device.record).credential == Array(repeating: 2, count: 32))
    }

    private static let unbindsWhatWasSeen = StoragePromise<any BackendStore>(
        "a sign-out ends what it saw, can be repeated, and leaves what came later and what is another's"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let device = try Sample.device("phone-1", handle: 1)
        try await bind(device, to: ada, with: .issue(try Sample.credential("phone-1", of: ada, digest: 1)), in: store)
        let seen = try await store.bindingState(of: device.record)
        func unbind(_ user: User, _ condition: UnbindingCondition) async throws -> UnbindingOutcome {
            try await store.unbind(device.record, from: user.id, if: condition, mark: 3, at: Sample.time(8))
        }
        #expect(try await unbind(bob, .unchanged(seen)) == .foreign)
        #expect(try await unbind(ada, .credential([9])) == .superseded)
        try await store.issue(try Sample.credential("phone-1", of: ada, digest: 2))
        #expect(try await unbind(ada, .unchanged(seen)) == .superseded)
        #expect(try await store.currentBinding(of: device.record) != nil)
        for change in [DeviceChange(device.record, mark: 1), DeviceChange(device.record, mark: 3)] {
            try await store.end(change)
        }
        #expect(try await unbind(ada, .credential(Array(repeating: 2, count: 32))) == .unbound)
        #expect(try await store.unendedChanges(begunBefore: Sample.time(9), limit: 9) == [device.record])
        try await store.end(DeviceChange(device.record, mark: 3))
        #expect(try await store.unendedChanges(begunBefore: Sample.time(9), limit: 9) == [])
        #expect(try await store.bindingState(of: device.record) == BindingState(binding: nil, credential: nil))
        #expect(try await unbind(ada, .unchanged(seen)) == .unbound, "a repeat")
        #expect(try await unbind(bob, .unchanged(seen)) == .foreign)
        let unknown = try await store.unbind(
            try #require(RecordID("phone-9")), from: ada.id, if: .unchanged(seen), mark: 3, at: Sample.start)
        #expect(unknown == .foreign)
    }

    private static let notesChanges = StoragePromise<any BackendStore>(
        "changes that began are there until they are ended, each by itself, and the oldest first"
    ) { store in
        let (one, two) = (try #require(RecordID("phone-1")), try #require(RecordID("phone-2")))
        let changes = [DeviceChange(two, mark: 1), DeviceChange(one, mark: 1), DeviceChange(one, mark: .max)]
        for (second, change) in zip([Int64(1), 2, 3], changes) {
            try await store.begin(change, at: Sample.time(second))
        }
        try await store.begin(changes[0], at: Sample.time(9))
        func unended(before second: Int64, limit: Int = 9) async throws -> [RecordID] {
            try await store.unendedChanges(begunBefore: Sample.time(second), limit: limit)
        }
        #expect(try await unended(before: 1) == [])
        #expect(try await unended(before: 2) == [two])
        #expect(try await unended(before: 9) == [two, one])
        #expect(try await unended(before: 9, limit: 1) == [two])
        try await store.end(changes[1])
        #expect(try await unended(before: 3) == [two])
        #expect(try await unended(before: 9) == [two, one], "the other change of it stays")
        try await store.endChanges(of: one, begunBefore: Sample.time(3))
        #expect(try await unended(before: 9) == [two, one])
        try await store.endChanges(of: one, begunBefore: Sample.time(4))
        try await store.end(changes[0])
        try await store.end(changes[0])
        #expect(try await unended(before: 9) == [])
    }

    private static let notesWhatItBinds = StoragePromise<any BackendStore>(
        "a binding is noted as a change with all that it replaced, and one that was refused is not"
    ) { store in
        let (ada, bob) = (try await Sample.user("ada", in: store), try await Sample.user("bob", in: store))
        let (one, two) = (try Sample.device("phone-1", handle: 1), try Sample.device("phone-2", handle: 1))
        func unended() async throws -> [RecordID] {
            try await store.unendedChanges(begunBefore: Sample.time(100), limit: 9)
        }
        #expect(try await store.lastBinding(of: one.record) == nil)
        let first = try await bind(one, to: ada, mark: 5, in: store).binding
        #expect(try await unended() == [one.record])
        try await store.end(DeviceChange(one.record, mark: 5))
        let refused = try await store.bind(
            try Sample.device("phone-1", handle: 2), to: bob.id, with: .password(version: 1), mark: 6, at: Sample.time(1))
        #expect(refused == .heldByAnother)
        #expect(try await unended() == [])
        #expect(try await store.sharers(of: one.record) == [])
        try await bind(two, to: bob, mark: 7, in: store, at: Sample.time(2))
        #expect(try await unended() == [one.record, two.record])
        #expect(try await store.lastBinding(of: one.record)?.number == first.number)
        #expect(try await store.lastBinding(of: one.record)?.until == Sample.time(2))
        #expect(try await store.sharers(of: one.record) == [two.record])
        #expect(try await store.sharers(of: two.record) == [])
        try await bind(try Sample.device("phone-1", handle: 3), to: ada, mark: 8, in: store, at: Sample.time(3))
        #expect(try await store.sharers(of: one.record) == [two.record], "of the handle that it had before")
        try await store.end(DeviceChange(one.record, mark: 8))
        for record in [one.record, two.record] { try await store.end(DeviceChange(record, mark: 7)) }
        #expect(try await unended() == [])
    }

    private static let remembers = StoragePromise<any BackendStore>(
        "bindings that ended before a send are left out, those that hold are there, however the clock was set in between"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        for number in 1...4 {
            try await bind(
                try Sample.device("phone-\(number)", handle: number), to: ada, in: store, at: Sample.time(Int64(number)))
        }
        var marks = [try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store).order]
        for (number, moment) in [(1, Int64(86_400)), (2, -86_400)] {
            let record = try #require(RecordID("phone-\(number)"))
            let state = try await store.bindingState(of: record)
            _ = try await store.unbind(
                record, from: ada.id, if: .unchanged(state), mark: 3, at: Sample.time(moment))
            marks.append(try await Sample.send(try Sample.draft(from: ada, to: "a"), in: store).order)
        }
        func records(since mark: OrderNumber) async throws -> [String] {
            try await store.bindings(of: ada.id, since: mark, limit: 9).map(\.device.record.text)
        }
        #expect(try await records(since: marks[0]) == ["phone-4", "phone-3", "phone-2", "phone-1"])
        #expect(try await records(since: marks[1]) == ["phone-4", "phone-3", "phone-2"])
        #expect(try await records(since: marks[2]) == ["phone-4", "phone-3"])
        #expect(try await records(since: .last) == ["phone-4", "phone-3"])
    }

    private static let bindsOnce = StoragePromise<any BackendStore>(
        "of many who bind one handle at once, one record holds it in the end"
    ) { store in
        let ada = try await Sample.user("ada", in: store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { try await bind(try Sample.device("phone-\(number)", handle: 1), to: ada, in: store) }
            }
            try await group.waitForAll()
        }
        let held = try await store.bindings(of: ada.id, since: .last, limit: 99).filter { $0.until == nil }
        #expect(held.count == 1)
        #expect(try await store.currentBinding(of: try #require(held.first).device.record) == held.first)
    }
}
