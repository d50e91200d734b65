import RichPushModel

extension KeySetCache {
    /// Fetches the keys when they are due and when callers wait for them, until the task is cancelled. Call it once.
    public func run() async {
        defer { stop() }
        guard document == nil else {
            while !Task.isCancelled { try? await clock.sleep(for: KeySetLimits.outage) }
            return
        }
        await adoptStored()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.serveDemands() }
            group.addTask { await self.renew() }
        }
    }

    private func serveDemands() async {
        // A fetch that began meanwhile has answered the demand.
        for await _ in demands.stream where state.withLock({ $0.isDemanded }) { await fetchOnce() }
    }

    private func renew() async {
        while !Task.isCancelled {
            let wait = timeToRenewal
            if wait <= .zero {
                await fetchOnce()
            } else {
                try? await clock.sleep(for: wait)
            }
        }
    }

    /// How long until a fetch is due without any demand. After failures the wait doubles up to 16 minutes. A demand does not wait that long.
    private var timeToRenewal: Duration {
        let uptime = clock.uptime
        return state.withLock { state in
            let pause = KeySetLimits.pause * (1 << min(max(state.failuresInARow - 1, 0), 4))
            let allowed = state.lastFetch.map { $0 + pause } ?? uptime
            // While the other task fetches, its outcome decides; a pause is the shortest time to it that matters.
            if state.isFetching { return KeySetLimits.pause }
            return max(allowed, state.held?.renewal ?? uptime) - uptime
        }
    }

    private func stop() {
        demands.continuation.finish()
        let waiters = state.withLock { state in
            state.isStopped = true
            state.isFetching = false
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Fetches, unless the other task does already, and resumes who waits.
    private func fetchOnce() async {
        let begun = clock.uptime
        let begins = state.withLock { state in
            guard !state.isFetching else { return false }
            state.isFetching = true
            state.isDemanded = false
            state.lastFetch = begun
            state.fetches += 1
            return true
        }
        guard begins else { return }
        let outcome = await fetched()
        // Another node's set may be newer than the one here. The callers that wait are answered from it.
        if case .failure = outcome, !Task.isCancelled { await adoptStored() }
        let waiters = state.withLock { state in
            state.isFetching = false
            state.isDemanded = false
            if case .success(let held) = outcome.map(\.held) { state.held = held }
            state.note(outcome.failure)
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
        await report(outcome)
    }

    private func fetched() async -> Result<(held: HeldKeySet, stored: StoredKeySet), KeySetFault> {
        do throws(KeySetFault) {
            let result: KeySetDownload.Result
            switch issuer.keySource {
            case .discovery(let address): result = try await download.discovered(at: address)
            case .address(let address): result = try await download.keySet(at: address)
            case .document: throw KeySetFault("the keys of a file are not fetched")
            }
            let set = try await KeySet(document: result.document, algorithms: issuer.algorithms)
            let stored = StoredKeySet(
                issuer: issuer.issuer, source: source, document: result.document, fetchedAt: clock.now, life: result.life)
            return .success((HeldKeySet(set: set, fetched: clock.uptime, life: result.life), stored))
        } catch { return .failure(error) }
    }

    /// Logs an outcome, and hands a good set to the store.
    private func report(_ outcome: Result<(held: HeldKeySet, stored: StoredKeySet), KeySetFault>) async {
        switch outcome {
        case .success(let (held, stored)):
            if held.set.keys.isEmpty {
                logger.warning("the issuer's key set has no usable key", metadata: ["issuer": "\(issuer.issuer)"])
            }
            do throws(KeySetFault) { try await store?.save(stored) } catch { log(error, "the issuer's keys were not stored") }
        case .failure(let fault):
            guard !Task.isCancelled else { return }
            log(fault, "the issuer's keys were not fetched")
        }
    }

    private func log(_ fault: KeySetFault, _ message: String) {
        logger.warning("\(message)", metadata: ["issuer": "\(issuer.issuer)", "reason": "\(fault)"])
    }

    /// Takes the stored set if it is of the same settings, young enough, and newer than the one in use.
    private func adoptStored() async {
        do throws(KeySetFault) {
            guard let stored = try await store?.load(issuer: issuer.issuer), stored.source == source,
                stored.document.count <= KeySetLimits.documentBytes
            else { return }
            let life = min(max(stored.life, KeySetLimits.life.lowerBound), KeySetLimits.life.upperBound)
            let age = clock.now - stored.fetchedAt
            // Another node's clock may be a little ahead. A set from further in the future has an unknown age.
            guard age > .zero - KeySetLimits.life.lowerBound, age < life + KeySetLimits.outage else { return }
            let set = try await KeySet(document: stored.document, algorithms: issuer.algorithms)
            let fetched = clock.uptime - max(age, .zero)
            state.withLock { state in
                if state.held.map({ $0.fetched < fetched }) ?? true {
                    state.held = HeldKeySet(set: set, fetched: fetched, life: life)
                }
            }
        } catch { log(error, "the issuer's stored keys cannot be used") }
    }

    private var source: String {
        switch issuer.keySource {
        case .discovery(let address): address.discoveryAddress
        case .address(let address): address.text
        case .document: ""
        }
    }
}

extension KeySetCache.State {
    fileprivate mutating func note(_ failure: KeySetFault?) {
        lastFailure = failure?.text
        failuresInARow = failure == nil ? 0 : failuresInARow + 1
        if failure != nil { failures += 1 }
    }
}

extension Result where Failure == KeySetFault {
    fileprivate var failure: KeySetFault? {
        guard case .failure(let fault) = self else { return nil }
        return fault
    }
}
