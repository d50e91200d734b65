import ClarionTesting
import Foundation
import NIOConcurrencyHelpers
import RichPushDevice
import RichPushModel

/// The backend of a cell: the fake one, in trouble. Time passes on the test's clock exactly while the phone waits for an answer.
struct TroubledServer: HTTPTransport {
    static let smallAnswer: Duration = .seconds(1)
    static let content: Duration = .seconds(40)

    let base: FakeServer
    let clock: ManualClock
    let trouble = NIOLockedValueBox(Cell.Trouble.online)
    private let receiptCalls = NIOLockedValueBox(0)

    init(base: FakeServer, clock: ManualClock) {
        self.base = base
        self.clock = clock
    }

    func send(
        _ request: TransportRequest, maximumBytes: Int, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        if let answer = try refusal(of: request) { return answer }
        if trouble.withLockedValue({ $0 }) == .slow { try pass(Self.smallAnswer, deadline) }
        if request.url.path == APIRoute.receipts { receiptCalls.withLockedValue { $0 += 1 } }
        return try await base.send(request, maximumBytes: maximumBytes, deadline: deadline)
    }

    func download(
        _ request: TransportRequest, to file: URL, maximumBytes: Int64, deadline: Duration
    ) async throws(TransportError) -> TransportResponse {
        if let answer = try refusal(of: request) { return answer }
        if trouble.withLockedValue({ $0 }) == .slow {
            let start = clock.uptime
            await letReceiptsGoFirst()
            try pass(Self.content, deadline - (clock.uptime - start))
        }
        return try await base.download(request, to: file, maximumBytes: maximumBytes, deadline: deadline)
    }

    private func refusal(of request: TransportRequest) throws(TransportError) -> TransportResponse? {
        switch trouble.withLockedValue({ $0 }) {
        case .offline: throw .unreachable
        case .unauthorized: TransportResponse(status: 401)
        case .failing: TransportResponse(status: 500)
        case .missing where request.method == "GET" && request.url.path.hasPrefix(APIRoute.notifications + "/"):
            FakeServer.missing
        default: nil
        }
    }

    /// As the real transport: at the deadline it gives up.
    private func pass(_ time: Duration, _ deadline: Duration) throws(TransportError) {
        clock.advance(by: min(time, deadline))
        guard time < deadline else { throw .timedOut }
    }

    /// Receipts are sent beside each content, by the extension and then by the app. On one processor one of them is first; here it is the
    /// receipts: the time that the content takes would end their own.
    private func letReceiptsGoFirst() async {
        for _ in 0..<20_000 where receiptCalls.withLockedValue({ $0 }) == 0 { await Task.yield() }
        receiptCalls.withLockedValue { $0 = 0 }
    }
}

extension FakeServer {
    /// Puts the notification of a cell on the server.
    func store(_ number: Int32, in trouble: Cell.Trouble) {
        let picture = PhoneFixture.png(UInt8(number))
        switch trouble {
        case .wrongHash: store(number, PhoneFixture.png(UInt8(number) + 1), sha256: PhoneFixture.digest(picture))
        case .hostileType:
            let page = Data("<html><script>alert(1)</script></html>".utf8)
            store(number, page, sha256: PhoneFixture.digest(page))
        default: store(number, picture, sha256: PhoneFixture.digest(picture))
        }
        guard trouble == .tooLarge, let id = RichID(number: number) else { return }
        state.withLockedValue { state in
            state.entries[id]?.entry.content?.byteCount = 60 << 20
            state.entries[id]?.entry.thumb = nil
        }
    }
}
