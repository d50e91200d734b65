import EngineTesting
import SQLStorage
import StorageConformance
import Testing

extension PostgreSQLTests {
    @Suite("PostgreSQL keeps the promises of the hub's storage")
    struct ConformanceTests {
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

        @Test("jobs:", arguments: JobStorePromises.all)
        func jobs(_ promise: StoragePromise<JobStorage>) async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            try await promise.check(JobStorage(jobs: SQLJobStore(database), devices: SQLDeviceStore(database)))
            database.close()
        }

        private func check(_ promise: StoragePromise<HubStorage>) async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            try await promise.check(
                HubStorage(
                    hubs: SQLHubStore(database), devices: SQLDeviceStore(database), intake: SQLIntakeStore(database),
                    queue: SQLSliceQueue(database), telemetry: SQLTelemetryStore(database)))
            database.close()
        }
    }
}
