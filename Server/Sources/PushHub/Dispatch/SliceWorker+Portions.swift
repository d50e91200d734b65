import RichPushModel

/// A paced slice: it leaves in portions, each when the pace lets it go, whether those before have been answered or not. So a push
/// service that takes its time does not make a send slower than it was asked for.
///
/// A slice with nothing under way is given back until its next portion may leave: it takes no hand from others by waiting.
extension SliceWorker {
    private enum Event: Sendable {
        case answered(portion: Int, [PushOutcome])
        /// The pace may let the next portion go.
        case ripe
    }

    /// What happens while portions are under way.
    private struct Course {
        var flight = PortionFlight()
        /// Whether somebody sleeps until the next portion may leave.
        var isWaiting = false
        /// Whether the slice is still in hand.
        var isKept = true
        var fault: (any Error)?
        /// Whether answers can be stored.
        var canStore = true
    }

    /// Sends a first portion and those after it until none is under way; whether there is more to do now.
    func sendPortions(_ first: SlicePage, _ hold: inout Hold) async throws -> Bool {
        var course = Course()
        await withTaskGroup(of: Event.self) { group in
            launch(first, &course.flight, &hold, &group)
            while true {
                await storeAnswered(&course, &hold)
                if course.flight.isEmpty || !course.canStore && course.flight.isAnswered { break }
                if mayGoOn(course, hold) {
                    if !paceMakesWait(&hold) {
                        await goOn(&course, &hold, &group)
                        continue
                    }
                    if !course.isWaiting {
                        course.isWaiting = true
                        group.addTask { [clock, wait = hold.wait] in
                            try? await clock.sleep(for: wait)
                            return .ripe
                        }
                    }
                }
                switch await group.next() {
                case .answered(let number, let outcomes): course.flight.answer(number, outcomes)
                case .ripe: course.isWaiting = false
                case nil: return
                }
            }
            // Nothing but the sleeper is left.
            group.cancelAll()
        }
        if let fault = course.fault { throw fault }
        return course.isKept
    }

    /// Whether a portion may leave beside those that are under way: they stay within the window, and nobody waits for this hand.
    private func mayGoOn(_ course: Course, _ hold: Hold) -> Bool {
        guard course.canStore, !course.flight.isClosed, course.flight.targets < settings.window else { return false }
        guard !Task.isCancelled, !isStopping() else { return false }
        return !isTurnOver(hold) || hasRoom(hold.lease.weight)
    }

    private func goOn(_ course: inout Course, _ hold: inout Hold, _ group: inout TaskGroup<Event>) async {
        do {
            // The state of the send is read with each portion, so that a cancelled one stops.
            guard try await secure(&hold), let page = try await queue.page(course.flight.request(hold, settings, clock.now)),
                !page.state.isFinal, course.flight.takes(page.work)
            else { return course.flight.close() }
            launch(page, &course.flight, &hold, &group)
        } catch {
            // What is under way is stored all the same.
            course.fault = error
            course.flight.close()
        }
    }

    private func launch(
        _ page: SlicePage, _ flight: inout PortionFlight, _ hold: inout Hold, _ group: inout TaskGroup<Event>
    ) {
        hold.pages += 1
        let plan = paced(plan(page, &hold), page, hold)
        hold.turn = plan.through == nil ? .walk : .retries
        let number = flight.add(page, plan)
        guard !plan.sends.isEmpty else { return flight.answer(number, []) }
        group.addTask { [lease = hold.lease] in .answered(portion: number, await send(plan, page, lease)) }
    }

    /// Stores what has been answered, in the order in which it left.
    private func storeAnswered(_ course: inout Course, _ hold: inout Hold) async {
        while course.canStore, let (portion, isFollowed) = course.flight.next() {
            let decision = decide(portion.page, portion.plan, portion.outcomes ?? [], &hold, isFollowed: isFollowed)
            let checkpoint = checkpoint(decision, portion, &course.flight, &hold)
            do {
                course.isKept = try await store(checkpoint, &hold)
                course.canStore = course.isKept
            } catch {
                course.fault = error
                course.canStore = false
            }
        }
    }

    /// The checkpoint of a portion. What becomes of the slice is said with the last one: as long as others are under way it is kept, and
    /// after them a new page shows what is left.
    private func checkpoint(
        _ decision: PageDecision, _ portion: PortionFlight.Portion, _ flight: inout PortionFlight, _ hold: inout Hold
    ) -> SliceCheckpoint {
        var checkpoint = decision.checkpoint
        if portion.isOverlapped {
            if case .release(let moment) = checkpoint.disposition, decision.trouble != nil, portion.plan.through != nil {
                flight.pause(until: moment)
            }
            checkpoint.disposition = .keep(until: clock.now + settings.leaseDuration)
        }
        guard flight.isEmpty else { return checkpoint }
        _ = paceMakesWait(&hold)
        let next = clock.now + hold.wait
        switch checkpoint.disposition {
        case .keep where flight.pausedUntil != nil || hold.wait > .zero:
            checkpoint.disposition = .release(notBefore: max(flight.pausedUntil ?? next, next))
        case .release(let moment): checkpoint.disposition = .release(notBefore: max(moment, next))
        case .keep, .finish: break
        }
        return checkpoint
    }

    /// As much of the plan as may leave now. That is something: the slice does not have to wait, and is nobody else's.
    private func paced(_ plan: PagePlan, _ page: SlicePage, _ hold: Hold) -> PagePlan {
        let wanted = plan.sends.count
        guard let rate = share(page, hold.lease), wanted > 0 else { return plan }
        return plan.limited(toPushes: pacing.take(wanted, of: hold.lease.id, rate: rate, at: clock.uptime))
    }

    /// What the slice may send in a second, if it is paced. A node of an older version knows of no shares; a large slice that it has planned
    /// is one of sixteen at most.
    func share(_ page: SlicePage, _ lease: SliceLease) -> Int? {
        lease.pushesPerSecond ?? page.pushesPerSecond.map { lease.weight == .large ? max($0 / SlicePlan.split, 1) : $0 }
    }

    /// Whether nothing of the slice may leave now, and says in the hold for how long.
    func paceMakesWait(_ hold: inout Hold) -> Bool {
        hold.wait = pacing.wait(of: hold.lease.id, at: clock.uptime)
        return hold.wait > .zero
    }
}
