import APNsEmulation
import APNsHTTP2
import Foundation
import Testing

@Suite("Clearing the records of the local APNs", .timeLimit(.minutes(10)))
struct ClearedRecordTests {
    @Test("requests, frames and deliveries are each forgotten alone, and what comes later is recorded")
    func cleared() async throws {
        try await LocalService.run(limits: APNsClientLimits(connections: 1), frames: 1_000) { service in
            func sizes() -> [Bool] {
                [service.apns.recordedExchanges.isEmpty, service.apns.recordedFrames.isEmpty, service.apns.deliveries.isEmpty]
            }
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            #expect(sizes() == [false, false, false])
            service.apns.clearRequests()
            #expect(sizes() == [true, false, false])
            service.apns.clearDeliveries()
            #expect(sizes() == [true, false, true])
            let frames = service.apns.recordedFrames.count
            service.apns.clearFrames()
            // A frame that belongs to no push may come at any time.
            #expect(service.apns.recordedFrames.count < frames)
            #expect(await service.client.send(service.pushes(1)[0]).isAccepted)
            #expect(sizes() == [false, false, false])
        }
    }
}
