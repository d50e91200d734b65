import HubProtocol
import PushHub
import RichPushModel
import SQLStorage
import Testing

@Suite("Feedback through the hub protocol")
struct FeedbackRequestTests {
    private let notification = NotificationID()

    /// Adds rows; those of no hub are like a transaction that is still open to a reader.
    private func note(_ count: Int, from first: Int, hub: Int64? = nil, _ bench: JobBench) async throws {
        let insert = SQLStatement(
            """
            INSERT INTO feedback (hub_id, platform, handle, record_id, installation_id, notification_id, reason, noted_at)
            VALUES ($1, 'apns', $2, $3, $4, $5, $6, $7)
            """)
        let (hub, notification, now) = (hub ?? bench.hub.id.number, notification, bench.clock.now)
        try await bench.database.write { connection in
            for number in first..<first + count {
                try connection.run(
                    insert,
                    [
                        .integer(hub), .text("AB\(number)"), .text("r-\(number)"),
                        number.isMultiple(of: 2) ? .text("phone") : .null, .text(notification.text),
                        .text(number.isMultiple(of: 2) ? "gone" : "bad-token"), .integer(now.milliseconds),
                    ])
            }
        }
    }

    private func read(_ bench: JobBench) async throws -> [PnsFeedback] {
        let answer = try await bench.call(.get, "/demo/feedbackcontainer?api-version=2020-06")
        #expect(answer.status == .ok)
        let link = String(buffer: answer.body)
        let listed = try await bench.call(.get, JobBench.target(link, nil, "&restype=container&comp=list"), as: .anonymous)
        var found: [PnsFeedback] = []
        for blob in try ContainerListing.read(Array(listed.body.readableBytesView)).blobs {
            let file = try await bench.call(.get, JobBench.target(link, blob.name), as: .anonymous)
            found += try PnsFeedback.read(Array(file.body.readableBytesView))
        }
        let refused = try await bench.call(.put, JobBench.target(link, "mine"), "x", as: .anonymous)
        #expect(refused.status == .unauthorized)
        return found
    }

    @Test("the feedback container holds the feedback of dead tokens, each once")
    func feedback() async throws {
        let bench = try await JobBench()
        #expect(try await read(bench).isEmpty)
        try await note(1500, from: 0, bench)
        #expect(try await read(bench).isEmpty, "what was noted just now may have company")
        bench.clock.advance(by: .seconds(181))
        let first = try await read(bench)
        #expect(first.count == 1500)
        #expect(
            first.first
                == PnsFeedback(
                    time: bench.clock.now - .seconds(181), systemError: "ExpiredChannel", platform: "apple", handle: "AB0",
                    owner: .installation("phone"), notificationID: notification.text))
        #expect(first[1].owner == .registration("r-1") && first[1].systemError == "WrongToken")
        try await note(3, from: 1500, bench)
        bench.clock.advance(by: .seconds(181))
        #expect(try await read(bench).map(\.handle) == (0..<1503).map { "AB\($0)" })
        #expect(try await bench.call(.get, "/demo/feedbackcontainer", as: .listen).status == .forbidden)
    }

    @Test("a row that is committed more than a minute after a younger one is reported as well")
    func open() async throws {
        let bench = try await JobBench()
        try await note(1, from: 0, hub: 0, bench)
        try await note(1, from: 1, bench)
        bench.clock.advance(by: .seconds(80))
        #expect(try await read(bench).isEmpty)
        try await bench.database.write { connection in
            _ = try connection.run(
                SQLStatement("UPDATE feedback SET hub_id = $1 WHERE hub_id = 0"), [.integer(bench.hub.id.number)])
        }
        bench.clock.advance(by: .seconds(101))
        #expect(try await read(bench).map(\.handle) == ["AB0", "AB1"])
    }

    @Test("a node that stalled between reading and writing takes no row out of what another has written")
    func stalled() async throws {
        let bench = try await JobBench()
        try await note(2, from: 0, bench)
        bench.clock.advance(by: .seconds(181))
        let files = LateUploads(base: bench.containers) {
            try await note(2, from: 2, bench)
            bench.clock.advance(by: .seconds(181))
            #expect(try await read(bench).count == 4)
        }
        try await bench.restarted(store: bench.jobStore, containers: files).layDownFeedback(of: bench.hub)
        #expect(Set(try await read(bench).map(\.handle)) == Set((0..<4).map { "AB\($0)" }))
        #expect(try await bench.jobStore.feedbackMark(in: bench.hub.id) == 4, "the mark does not go back")
    }
}

/// Files whose writer stalls before it begins one.
private struct LateUploads: ContainerStore {
    let base: any ContainerStore
    /// What happens meanwhile.
    let stall: @Sendable () async throws -> Void

    func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload {
        try await stall()
        return try await base.put(blob, limit: limit)
    }

    func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending {
        try await base.append(to: blob, at: offset)
    }

    func open(_ blob: BlobReference) async throws -> (any BlobReading)? { try await base.open(blob) }

    func list(
        _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
    ) async throws -> [BlobInformation] {
        try await base.list(container, of: hub, prefix: prefix, after: name, limit: limit)
    }

    func remove(_ blob: BlobReference) async throws -> Bool { try await base.remove(blob) }

    func sweep(writtenBefore moment: Timestamp) async throws -> Int { try await base.sweep(writtenBefore: moment) }
}
