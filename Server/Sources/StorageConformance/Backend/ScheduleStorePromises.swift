import AppBackend
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

/// What a `ScheduleStore` promises.
public enum ScheduleStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] = [
        keeps, repeats, limits, isDueOnce, movedOn, advances, postpones, replaces, ends, keepsContents, lists, removesEnded,
        goesWithUser, approves,
    ]

    private typealias Sample = BackendSample

    private static func draft(
        from user: User, to audience: String = "news", content: String? = nil, due: Int64 = 10, number: Int = 0
    ) throws -> ScheduleDraft {
        var notification = SendRequest(message: "Later 😀")
        notification.contentID = content
        var request = ScheduleRequest(notification)
        (request.localTime, request.timeZone, request.recurrence) = ("2027-01-15T09:00", "Europe/Berlin", "FREQ=DAILY")
        return ScheduleDraft(
            owner: user.id, ownerName: user.name, request: request, audience: try TagExpression(parsing: audience),
            next: ScheduleOccurrence(number: number, dueAt: Sample.time(due)))
    }

    private static func add(
        _ draft: ScheduleDraft, key: IdempotencyKey? = nil, limit: Int = 100, in store: any BackendStore
    ) async throws -> Schedule {
        try await store.addSchedule(draft, key: key, limit: limit, at: Sample.start, audit: nil)
    }

    private static func step(_ schedule: Schedule, due: Int64?, missed: Int = 0) -> ScheduleStep {
        ScheduleStep(
            id: schedule.id, revision: schedule.revision, missed: missed,
            next: due.map { ScheduleOccurrence(number: 1, dueAt: Sample.time($0)) })
    }

    private static let keeps = StoragePromise<any BackendStore>("a schedule comes back as stored") { store in
        let ann = try await Sample.user("ann", in: store)
        let draft = try draft(from: ann, to: "news && !beta", number: 7)
        let made = try await add(draft, in: store)
        #expect(try await store.schedule(made.id) == made)
        #expect(made.draft == draft)
        #expect(made.state == .waiting)
        #expect(made.createdAt == Sample.start)
        #expect(try await store.schedule(made.id + 1) == nil)
    }

    private static let repeats = StoragePromise<any BackendStore>(
        "a key used again gives the same schedule for the same request, and is refused for another"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        let key = Sample.key("k")
        let made = try await add(try draft(from: ann), key: key, in: store)
        #expect(try await add(try draft(from: ann), key: key, in: store) == made)
        #expect(try await store.schedule(repeating: key, of: ann.id) == made)
        #expect(try await store.schedule(repeating: key, of: bob.id) == nil)
        let other = await #expect(throws: ServiceError.self) {
            _ = try await add(try draft(from: ann), key: Sample.key("k", 2), in: store)
        }
        #expect(other?.code == .idempotencyMismatch)
        #expect(try await add(try draft(from: bob), key: key, in: store).id != made.id)
    }

    private static let limits = StoragePromise<any BackendStore>("a user has a limited number that wait, also of many at once") {
        store in
        let ann = try await Sample.user("ann", in: store)
        let refused = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do { _ = try await add(try draft(from: ann), limit: 3, in: store) } catch { return true }
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(refused == 5)
        let waiting = try await store.schedules(ScheduleQuery(of: ann.id, state: .waiting, limit: 10))
        #expect(waiting.count == 3)
        _ = try await store.endSchedule(waiting[0].id, revision: nil, as: .cancelled, fault: nil, at: Sample.start, audit: nil)
        _ = try await add(try draft(from: ann), limit: 3, in: store)
    }

    private static let isDueOnce = StoragePromise<any BackendStore>(
        "of many nodes that send an occurrence at once, one does"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await add(try draft(from: ann), in: store)
        var send = try Sample.draft(from: ann, to: "news")
        send.step = step(made, due: 20)
        let errors = await withTaskGroup(of: ServiceError?.self) { group in
            for _ in 0..<8 {
                group.addTask { [send] in
                    do { _ = try await store.accept(send, at: Sample.time(11)) } catch { return error as? ServiceError }
                    return nil
                }
            }
            return await group.reduce(into: [ServiceError]()) { if let error = $1 { $0.append(error) } }
        }
        #expect(errors == Array(repeating: ServiceError.scheduleMovedOn, count: 7))
        #expect(try await store.sends(SendListQuery(by: .number(below: nil), limit: 10)).count == 1)
        let found = try #require(try await store.schedule(made.id))
        #expect(found.sent == 1)
        #expect(found.lastSend?.number == 1)
        #expect(found.draft.next == ScheduleOccurrence(number: 1, dueAt: Sample.time(20)))
    }

    private static let movedOn = StoragePromise<any BackendStore>(
        "a send of a schedule that was changed or ended is not accepted, and nothing of it is there"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        for isChanged in [true, false] {
            let made = try await add(try draft(from: ann), in: store)
            if isChanged {
                _ = try await store.replaceSchedule(
                    made.id, revision: 1, with: try draft(from: ann, due: 90), at: Sample.start, audit: nil)
            } else {
                _ = try await store.endSchedule(made.id, revision: 1, as: .cancelled, fault: nil, at: Sample.start, audit: nil)
            }
            var send = try Sample.draft(from: ann, to: "news")
            send.step = step(made, due: 20)
            await #expect(throws: ServiceError.scheduleMovedOn) { _ = try await store.accept(send, at: Sample.time(11)) }
            #expect(try await store.schedule(made.id)?.sent == 0)
        }
        #expect(try await store.lastNumber() == 0)
    }

    private static let advances = StoragePromise<any BackendStore>(
        "a step without a send counts what was missed; without a next occurrence it ends the schedule"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await add(try draft(from: ann), in: store)
        #expect(try await store.advance(step(made, due: 30, missed: 2), at: Sample.time(20)))
        #expect(try await !store.advance(step(made, due: 30, missed: 2), at: Sample.time(20)), "the revision is another")
        let second = try #require(try await store.schedule(made.id))
        #expect(second.missed == 2)
        #expect(second.state == .waiting)
        #expect(try await store.advance(step(second, due: nil, missed: 1), at: Sample.time(40)))
        let last = try #require(try await store.schedule(made.id))
        #expect(last.state == .ended)
        #expect(last.missed == 3)
        #expect(last.draft.next == nil)
        #expect(last.sent == 0)
    }

    private static let postpones = StoragePromise<any BackendStore>(
        "due are those whose time or next attempt has come, the oldest first"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let late = try await add(try draft(from: ann, due: 20), in: store)
        let early = try await add(try draft(from: ann, due: 10), in: store)
        #expect(try await store.dueSchedules(at: Sample.time(9), limit: 10) == [])
        #expect(try await store.dueSchedules(at: Sample.time(10), limit: 10).map(\.id) == [early.id])
        #expect(try await store.dueSchedules(at: Sample.time(30), limit: 10).map(\.id) == [early.id, late.id])
        #expect(try await store.dueSchedules(at: Sample.time(30), limit: 1).map(\.id) == [early.id])
        try await store.postponeSchedule(early.id, revision: 1, until: Sample.time(50), fault: "the disk is full")
        try await store.postponeSchedule(late.id, revision: 9, until: Sample.time(50), fault: "another revision")
        #expect(try await store.dueSchedules(at: Sample.time(49), limit: 10).map(\.id) == [late.id])
        #expect(try await store.dueSchedules(at: Sample.time(50), limit: 10).map(\.id) == [late.id, early.id])
        let found = try #require(try await store.schedule(early.id))
        #expect(found.fault == "the disk is full")
        #expect(found.draft.next?.dueAt == Sample.time(10), "it was due then")
        var send = try Sample.draft(from: ann, to: "news")
        send.step = step(found, due: 60)
        _ = try await Sample.send(send, in: store)
        #expect(try await store.schedule(early.id)?.fault == nil)
    }

    private static let replaces = StoragePromise<any BackendStore>("a change holds if nothing has happened meanwhile") { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await add(try draft(from: ann), in: store)
        let other = try draft(from: ann, to: "sports", due: 99, number: 3)
        let found = try await store.replaceSchedule(made.id, revision: 1, with: other, at: Sample.start, audit: nil)
        let new = try #require(found)
        #expect(new.draft == other)
        #expect(new.revision == 2)
        #expect(try await store.replaceSchedule(made.id, revision: 1, with: other, at: Sample.start, audit: nil) == nil)
        #expect(try await store.dueSchedules(at: Sample.time(50), limit: 10) == [])
    }

    private static let ends = StoragePromise<any BackendStore>("what was ended is not due and does not end again") { store in
        let ann = try await Sample.user("ann", in: store)
        let made = try await add(try draft(from: ann), in: store)
        let now = Sample.start
        #expect(try await !store.endSchedule(made.id, revision: 5, as: .failed, fault: "x", at: now, audit: nil))
        #expect(try await store.endSchedule(made.id, revision: 1, as: .failed, fault: "gone", at: now, audit: nil))
        #expect(try await !store.endSchedule(made.id, revision: nil, as: .cancelled, fault: nil, at: now, audit: nil))
        let found = try #require(try await store.schedule(made.id))
        #expect(found.state == .failed)
        #expect(found.fault == "gone")
        #expect(try await store.dueSchedules(at: Sample.time(500), limit: 10) == [])
    }

    private static let keepsContents = StoragePromise<any BackendStore>(
        "a content stays while a schedule waits for it or a send has it, and expires after that"
    ) { store in
        let ann = try await Sample.user("ann", in: store)
        let quota = ContentQuota(bytes: 1_000_000, waiting: 10)
        for id in ["a", "b"] { try await store.stage(try Sample.content(id, of: ann), quota: quota, at: Sample.start) }
        let late = Sample.time(5000)
        let made = try await add(try draft(from: ann, content: "a"), in: store)
        #expect(try await store.content("a", at: late) != nil)
        #expect(try await store.content("b", at: late) == nil, "that was not claimed")
        await #expect(throws: ServiceError.self) { _ = try await add(try draft(from: ann, content: "c"), in: store) }
        // A send that is recalled does not take it from the schedule.
        var send = try Sample.draft(from: ann, to: "news", content: "a")
        send.step = step(made, due: 20)
        let sent = try await Sample.send(send, in: store)
        #expect(try await store.recall(sent.id, at: Sample.time(12), contentExpiry: Sample.time(12)))
        #expect(try await store.content("a", at: late) != nil)
        // A change that names another gives it back.
        let second = try #require(try await store.schedule(made.id))
        let third = try #require(
            try await store.replaceSchedule(
                made.id, revision: second.revision, with: try draft(from: ann, content: "b"), at: Sample.time(13), audit: nil))
        #expect(try await store.content("a", at: late) == nil)
        #expect(try await store.content("b", at: late) != nil)
        #expect(try await store.advance(step(third, due: nil), at: Sample.time(14)))
        #expect(try await store.content("b", at: late) == nil)
    }

    private static let lists = StoragePromise<any BackendStore>("schedules are listed by owner and state, newest first") {
        store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        var ids: [Int64] = []
        for number in 0..<6 {
            ids.append(try await add(try draft(from: number.isMultiple(of: 2) ? ann : bob), in: store).id)
        }
        _ = try await store.endSchedule(ids[2], revision: nil, as: .cancelled, fault: nil, at: Sample.start, audit: nil)
        func found(_ query: ScheduleQuery) async throws -> [Int64] { try await store.schedules(query).map(\.id) }
        #expect(try await found(ScheduleQuery(limit: 10)) == ids.reversed())
        #expect(try await found(ScheduleQuery(limit: 2)) == [ids[5], ids[4]])
        #expect(try await found(ScheduleQuery(below: ids[4], limit: 2)) == [ids[3], ids[2]])
        #expect(try await found(ScheduleQuery(of: ann.id, limit: 10)) == [ids[4], ids[2], ids[0]])
        #expect(try await found(ScheduleQuery(of: ann.id, state: .waiting, limit: 10)) == [ids[4], ids[0]])
        #expect(try await found(ScheduleQuery(state: .waiting, below: ids[3], limit: 10)) == [ids[1], ids[0]])
    }

    private static let approves = StoragePromise<any BackendStore>(
        "a proposal is not due until it is approved under its revision, and counts as one that waits"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        var proposal = try draft(from: ann, due: 10)
        proposal.request.approval = true
        let made = try await add(proposal, in: store)
        #expect(made.state == .proposed)
        #expect(try await store.schedule(made.id) == made)
        #expect(try await store.dueSchedules(at: Sample.time(100), limit: 10).isEmpty)
        await #expect(throws: ServiceError.self) { _ = try await add(proposal, limit: 1, in: store) }
        let plain = try await add(try draft(from: bob, due: 500), in: store)
        #expect(try await store.schedules(ScheduleQuery(state: .proposed, limit: 10)).map(\.id) == [made.id])
        #expect(try await store.schedules(ScheduleQuery(of: bob.id, state: .proposed, limit: 10)).isEmpty)
        func approve(_ id: Int64, _ revision: Int64) async throws -> Schedule? {
            try await store.approveSchedule(
                id, revision: revision, as: proposal.request, next: ScheduleOccurrence(number: 3, dueAt: Sample.time(20)),
                by: bob.name, at: Sample.time(15), audit: nil)
        }
        #expect(try await approve(made.id, 2) == nil)
        #expect(try await approve(plain.id, 1) == nil, "it is no proposal")
        let approved = try #require(try await approve(made.id, 1))
        #expect(approved.state == .waiting && approved.approvedBy == "bob" && approved.revision == 2)
        #expect(approved.draft.next == ScheduleOccurrence(number: 3, dueAt: Sample.time(20)))
        #expect(try await approve(made.id, 2) == nil)
        #expect(try await store.dueSchedules(at: Sample.time(20), limit: 10).map(\.id) == [made.id])
        let again = try #require(
            try await store.replaceSchedule(made.id, revision: 2, with: proposal, at: Sample.time(21), audit: nil))
        #expect(again.state == .proposed && again.approvedBy == nil)
        #expect(try await store.dueSchedules(at: Sample.time(100), limit: 10).isEmpty)
        #expect(try await store.endSchedule(made.id, revision: nil, as: .cancelled, fault: nil, at: Sample.time(22), audit: nil))
        #expect(try await store.schedules(ScheduleQuery(state: .proposed, limit: 10)).isEmpty)
    }

    private static let removesEnded = StoragePromise<any BackendStore>("those that ended long ago go, and no others") { store in
        let ann = try await Sample.user("ann", in: store)
        var ids: [Int64] = []
        for second in 0..<4 {
            let made = try await add(try draft(from: ann), in: store)
            ids.append(made.id)
            guard second < 3 else { continue }
            _ = try await store.endSchedule(
                made.id, revision: nil, as: .cancelled, fault: nil, at: Sample.time(Int64(second)), audit: nil)
        }
        #expect(try await store.removeSchedules(endedBefore: Sample.time(2), limit: 1) == 1)
        #expect(try await store.removeSchedules(endedBefore: Sample.time(2), limit: 10) == 1)
        #expect(try await store.removeSchedules(endedBefore: Sample.time(2), limit: 10) == 0)
        #expect(try await store.schedules(ScheduleQuery(limit: 10)).map(\.id) == [ids[3], ids[2]])
    }

    private static let goesWithUser = StoragePromise<any BackendStore>(
        "with a user their schedules go, and they go out of the audiences of others"
    ) { store in
        let (ann, bob) = (try await Sample.user("ann", in: store), try await Sample.user("bob", in: store))
        let quota = ContentQuota(bytes: 1_000_000, waiting: 10)
        try await store.stage(try Sample.content("a", of: bob), quota: quota, at: Sample.start)
        let own = try await add(try draft(from: ann), in: store)
        let toBoth = try await add(try draft(from: bob, to: "username:ann || username:bob"), in: store)
        let toThem = try await add(try draft(from: bob, to: "username:ann", content: "a"), in: store)
        try await store.lockOut(ann.id, at: Sample.start, audit: nil)
        #expect(try await store.schedule(own.id) == nil, "none is sent while the user is erased")
        try await store.erase(ann, at: Sample.start)
        #expect(try await store.schedule(toThem.id) == nil)
        #expect(try await store.content("a", at: Sample.time(1)) == nil, "the content was for that alone")
        let left = try #require(try await store.schedule(toBoth.id))
        #expect(left.draft.audience.description == "username:#erased || username:bob")
        #expect(left.revision == 2)
    }
}
