import RichPushModel

extension RichPushEngine {
    /// The system runs the app for a moment: sends what waits and reads the inbox, so that nothing is missed where pushes were
    /// (Reference/IOSClient.md#8). Returns exactly once, within `budget`, and says whether the server was heard.
    public func handleBackgroundRefresh(budget: Duration) async -> Bool {
        await scheduleRefresh()
        return await Deadline(device.clock, after: budget).run { await self.refreshUnseen() } ?? false
    }

    /// Asks for the next time, where the app is configured for it.
    func scheduleRefresh() async {
        guard configuration.refreshTask != nil else { return }
        await app.scheduling?.scheduleRefresh(after: configuration.limits.refreshPause)
    }

    private func refreshUnseen() async -> Bool {
        do throws(RichPushError) {
            _ = try await refresh()
            return true
        } catch {
            guard error == .notSignedIn else { return false }
            // The server may still have to hear of a sign-out, and afterwards the process stands still.
            await revoking?.value
            return isLoaded && !mayBeBound
        }
    }
}
