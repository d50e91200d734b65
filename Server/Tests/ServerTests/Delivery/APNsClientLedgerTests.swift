import APNsHTTP2
import APNsProtocol
import Synchronization
import Testing

@testable import ServerDelivery

@Suite("The numbers of all clients of APNs")
struct APNsClientLedgerTests {
    private func metrics(_ requests: Int, connections: Int, goAways: Int = 0) -> APNsClientMetrics {
        var metrics = APNsClientMetrics()
        metrics.requests = requests
        metrics.connections = connections
        metrics.goAways = goAways
        metrics.goAwaysByReason = goAways > 0 ? [.shutdown: goAways] : [:]
        return metrics
    }

    @Test("without a client there are none, with several they are the sum")
    func sum() {
        let ledger = APNsClientLedger()
        #expect(ledger.numbers == nil)
        _ = ledger.open { [one = metrics(3, connections: 1)] in one }
        _ = ledger.open { [two = metrics(4, connections: 2, goAways: 1)] in two }
        #expect(ledger.numbers?.clients == 2)
        #expect(ledger.numbers?.sum == metrics(7, connections: 3, goAways: 1))
    }

    @Test("a client that was closed leaves its totals, the last ones included, and none of its levels")
    func closed() {
        let ledger = APNsClientLedger()
        let requests = Mutex(3)
        let client = ledger.open { [self] in metrics(requests.withLock { $0 }, connections: 1, goAways: 2) }
        #expect(ledger.numbers?.sum.requests == 3)
        requests.withLock { $0 = 5 }
        ledger.close(client)
        ledger.close(client)
        #expect(ledger.numbers?.clients == 0)
        #expect(ledger.numbers?.sum == metrics(5, connections: 0, goAways: 2))
        _ = ledger.open { [another = metrics(1, connections: 1)] in another }
        #expect(ledger.numbers?.sum == metrics(6, connections: 1, goAways: 2))
    }
}
