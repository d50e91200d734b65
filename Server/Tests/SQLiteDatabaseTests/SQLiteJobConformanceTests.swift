import SQLStorage
import StorageConformance
import Testing

@Suite("SQLite keeps the promises of jobs")
struct SQLiteJobConformanceTests {
    @Test("jobs:", arguments: JobStorePromises.all)
    func jobs(_ promise: StoragePromise<JobStorage>) async throws {
        let store = try await TemporaryStore()
        try await promise.check(JobStorage(jobs: SQLJobStore(store.database), devices: SQLDeviceStore(store.database)))
    }
}
