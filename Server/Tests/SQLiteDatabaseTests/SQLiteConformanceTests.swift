import StorageConformance
import Testing

@Suite("SQLite keeps the promises of the hub's storage")
struct SQLiteConformanceTests {
    @Test("devices:", arguments: DeviceStorePromises.all)
    func devices(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    @Test("intake and telemetry:", arguments: IntakeStorePromises.all)
    func intake(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    @Test("queue:", arguments: SliceQueuePromises.all)
    func queue(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    @Test("hubs:", arguments: HubStorePromises.all)
    func hubs(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    @Test("installations:", arguments: InstallationPromises.all)
    func installations(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    @Test("lists:", arguments: DeviceListPromises.all)
    func lists(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    @Test("kinds of sends:", arguments: SendKindPromises.all)
    func sendKinds(_ promise: StoragePromise<HubStorage>) async throws { try await check(promise) }

    private func check(_ promise: StoragePromise<HubStorage>) async throws {
        let store = try await TemporaryStore()
        try await promise.check(store.hub)
    }
}
