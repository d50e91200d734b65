import RichPushDevice

/// For scripts that wait for what a person would see.
extension SimulatedPhone {
    /// Something was shown or asked.
    func noteSeen() {
        unseen += 1
        settleWatchers()
    }

    /// Returns `true` when as many notifications and questions were seen as nobody has counted before; `false` when the task is
    /// cancelled.
    public func seen(_ count: Int) async -> Bool {
        lastWatcher += 1
        let number = lastWatcher
        let waiter = FirstResult<Bool>()
        watchers[number] = (count, waiter)
        settleWatchers()
        return await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            Task { await self.cancelWatcher(number) }
        }
    }

    private func settleWatchers() {
        for (number, watcher) in watchers.sorted(by: { $0.key < $1.key }) where unseen >= watcher.count {
            unseen -= watcher.count
            watchers[number] = nil
            Task { await watcher.waiter.resolve(true) }
        }
    }

    private func cancelWatcher(_ number: Int) async {
        await watchers.removeValue(forKey: number)?.waiter.resolve(false)
    }
}
