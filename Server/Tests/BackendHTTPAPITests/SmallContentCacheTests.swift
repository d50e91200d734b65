import ClarionTesting
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import RichPushModel
import Testing

@testable import BackendHTTPAPI

@Suite("Contents that many fetch", .timeLimit(.minutes(10)))
struct SmallContentCacheTests {
    @Test("are read from the store once for all who come at the same time")
    func once() async throws {
        let bench = try await BackendBench()
        let picture = Fixtures.png(name: "hot")
        let uri = "/api/v1/notifications/" + (try await bench.sendPicture(picture, as: "ann"))
        #expect(try await bench.call(.get, uri, as: "ann").bytes == picture)
        let before = bench.contents.opening.arrivals
        bench.contents.opening.close()
        try await withThrowingTaskGroup(of: TestResponse.self) { group in
            for _ in 0..<100 { group.addTask { try await bench.call(.get, uri, as: "ann") } }
            await bench.contents.opening.holds(1)
            #expect(await eventually { bench.admission.underWay >= 100 })
            bench.contents.opening.open()
            for try await answer in group { #expect(answer.bytes == picture) }
        }
        #expect(bench.contents.opening.arrivals == before + 1)
        for _ in 0..<100 { #expect(try await bench.call(.get, uri, as: "ann").bytes == picture) }
        #expect(bench.contents.opening.arrivals == before + 1)
        bench.clock.advance(by: .seconds(60))
        #expect(try await bench.call(.get, uri, as: "ann").bytes == picture)
        #expect(bench.contents.opening.arrivals == before + 2)
    }

    @Test("leave memory with the first question after their time, whatever it asks for, and are then read once for all again")
    func age() {
        var ledger = SmallContentCachePolicy()
        let bytes = ByteBuffer(repeating: 7, count: 100)
        ledger.loaded(bytes, of: "a", at: .seconds(10))
        #expect(ledger.ask(for: "a", size: 100, at: .seconds(50)) == .serve(bytes))
        #expect(ledger.ask(for: "b", size: 100, at: .seconds(69)) == .stream)
        #expect(ledger.size == 100)
        #expect(ledger.ask(for: "c", size: 100, at: .seconds(70)) == .stream)
        #expect(ledger.size == 0)
        #expect(ledger.ask(for: "a", size: 100, at: .seconds(71)) == .load)
        #expect(ledger.ask(for: "a", size: 100, at: .seconds(71)) == .join)
    }

    @Test("come in part, as a head and not again from memory too, to permitted users, and to no user after a recall")
    func sameAnswers() async throws {
        let bench = try await BackendBench()
        let picture = Fixtures.png(name: "hot")
        let uri = "/api/v1/notifications/" + (try await bench.sendPicture(picture, as: "ann"))
        let cold = try await bench.call(.get, uri, as: "ann")
        let tag = try #require(cold.headers[.eTag])
        for _ in 0..<2 {
            let hot = try await bench.call(.get, uri, as: "ann")
            #expect(hot.bytes == picture)
            for name in [HTTPField.Name.eTag, .contentType, .contentLength, .contentDisposition, .cacheControl, .acceptRanges] {
                #expect(hot.headers[name] == cold.headers[name], "\(name)")
            }
        }
        let opened = bench.contents.opening.arrivals
        let part = try await bench.call(.get, uri, as: "ann", headers: [.range: "bytes=1-3", .ifRange: tag])
        #expect(part.status == .partialContent)
        #expect(part.bytes == Array(picture[1...3]))
        #expect(part.headers[.contentRange] == "bytes 1-3/\(picture.count)")
        #expect(try await bench.call(.get, uri, as: "ann", headers: [.range: "bytes=99999-"]).status == .rangeNotSatisfiable)
        #expect(try await bench.call(.get, uri, as: "ann", headers: [.ifNoneMatch: tag]).status == .notModified)
        let head = try await bench.call(.head, uri, as: "ann")
        #expect(head.bytes.isEmpty && head.headers[.contentLength] == String(picture.count))
        #expect(try await bench.call(.get, uri, as: "bob").status == .notFound)
        #expect(try await bench.call(.delete, uri, as: "ann").status == .noContent)
        #expect(try await bench.call(.get, uri, as: "ann").status == .notFound)
        #expect(bench.contents.opening.arrivals == opened)
    }

    @Test("that a phone has already cost no look at the store")
    func unchanged() async throws {
        let bench = try await BackendBench()
        let uri = "/api/v1/notifications/" + (try await bench.sendPicture(Fixtures.large(name: "a"), as: "ann"))
        let tag = try #require(try await bench.call(.get, uri, as: "ann").headers[.eTag])
        let opened = bench.contents.opening.arrivals
        #expect(try await bench.call(.get, uri, as: "ann", headers: [.ifNoneMatch: tag]).status == .notModified)
        #expect(try await bench.call(.get, uri, as: "ann", headers: [.ifMatch: "\"other\""]).status == .preconditionFailed)
        #expect(bench.contents.opening.arrivals == opened)
    }

    private func buffer(_ count: Int64) -> ByteBuffer { ByteBuffer(repeating: 7, count: Int(count)) }

    @Test("are kept from the second time on, and not when they are large or empty")
    func secondTime() {
        var ledger = SmallContentCachePolicy()
        #expect(ledger.ask(for: "a", size: 10, at: .zero) == .stream)
        #expect(ledger.ask(for: "a", size: 10, at: .seconds(59)) == .load)
        #expect(ledger.ask(for: "a", size: 10, at: .seconds(59)) == .join)
        ledger.loaded(buffer(10), of: "a", at: .seconds(59))
        #expect(ledger.ask(for: "a", size: 10, at: .seconds(118)) == .serve(buffer(10)))
        #expect(ledger.ask(for: "a", size: 10, at: .seconds(119)) == .load)
        ledger.failed("a")
        #expect(ledger.size == 0)
        #expect(ledger.ask(for: "a", size: 10, at: .seconds(119)) == .load)
        ledger.failed("a")
        #expect(ledger.ask(for: "a", size: 10, at: .seconds(179)) == .stream)
        for size in [0, SmallContentCachePolicy.largest + 1] {
            for _ in 0..<3 { #expect(ledger.ask(for: "b", size: size, at: .zero) == .stream) }
        }
    }

    @Test("take so much memory and no more: the one goes that was not asked for the longest")
    func bounded() {
        var ledger = SmallContentCachePolicy()
        let size = SmallContentCachePolicy.largest
        let room = SmallContentCachePolicy.capacity / Int(size)
        func keep(_ name: String, at uptime: Duration) {
            for _ in 0..<2 { _ = ledger.ask(for: name, size: size, at: uptime) }
            ledger.loaded(buffer(size), of: name, at: uptime)
        }
        for number in 0..<room { keep("\(number)", at: .milliseconds(number)) }
        #expect(ledger.ask(for: "0", size: size, at: .seconds(1)) == .serve(buffer(size)))
        keep("more", at: .seconds(2))
        #expect(ledger.size == SmallContentCachePolicy.capacity)
        #expect(ledger.ask(for: "0", size: size, at: .seconds(2)) == .serve(buffer(size)))
        #expect(ledger.ask(for: "1", size: size, at: .seconds(2)) == .stream)
        for number in 0..<100_000 { _ = ledger.ask(for: "once \(number)", size: 1, at: .seconds(3)) }
        #expect(ledger.ask(for: "more", size: size, at: .seconds(3)) == .serve(buffer(size)))
    }
}
