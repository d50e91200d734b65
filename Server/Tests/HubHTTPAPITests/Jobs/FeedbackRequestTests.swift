import HubProtocol
import PushHub
import RichPushModel
import SQLStorage
import Testing

@Suite("Feedback through the hub protocol")
struct FeedbackRequestTests {
    @Test("the feedback container holds the feedback of dead tokens, each once")
    func feedback() async throws {
        let bench = try await JobBench()
        let notification = NotificationID()
        func note(_ count: Int, from first: Int) async throws {
            try await bench.database.write { connection in
                for number in first..<first + count {
                    try connection.run(
                        SQLStatement(
                            """
                            INSERT INTO feedback (hub_id, platform, handle, record_id, installation_id, notification_id, reason,
                                noted_at)
                            VALUES ($1, 'apns', $2, $3, $4, $5, $6, $7)
                            """),
                        [
                            .integer(bench.hub.id.number), .text("AB\(number)"), .text("r-\(number)"),
                            number.isMultiple(of: 2) ? .text("phone") : .null, .text(notification.text),
                            .text(number.isMultiple(of: 2) ? "gone" : "bad-token"), .integer(bench.clock.now.milliseconds),
                        ])
                }
            }
        }
        func read() async throws -> [PnsFeedback] {
            let answer = try await bench.call(.get, "/demo/feedbackcontainer?api-version=2020-06")
            #expect(answer.status == .ok)
            let link = String(buffer: answer.body)
            let listed = try await bench.call(.get, JobBench.target(link, nil, "&restype=container&comp=list"), as: .nobody)
            var found: [PnsFeedback] = []
            for blob in try ContainerListing.read(Array(listed.body.readableBytesView)).blobs {
                let file = try await bench.call(.get, JobBench.target(link, blob.name), as: .nobody)
                found += try PnsFeedback.read(Array(file.body.readableBytesView))
            }
            let refused = try await bench.call(.put, JobBench.target(link, "mine"), "x", as: .nobody)
            #expect(refused.status == .unauthorized)
            return found
        }
        #expect(try await read().isEmpty)
        try await note(1500, from: 0)
        #expect(try await read().isEmpty, "what was noted just now may have company")
        bench.clock.advance(by: .seconds(6))
        let first = try await read()
        #expect(first.count == 1500)
        #expect(
            first.first
                == PnsFeedback(
                    time: bench.clock.now - .seconds(6), systemError: "ExpiredChannel", platform: "apple", handle: "AB0",
                    owner: .installation("phone"), notificationID: notification.text))
        #expect(first[1].owner == .registration("r-1") && first[1].systemError == "WrongToken")
        try await note(3, from: 1500)
        bench.clock.advance(by: .seconds(6))
        #expect(try await read().map(\.handle) == (0..<1503).map { "AB\($0)" })
        #expect(try await bench.call(.get, "/demo/feedbackcontainer", as: .listen).status == .forbidden)
    }
}
