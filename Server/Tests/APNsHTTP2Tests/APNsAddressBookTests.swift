import ClarionTesting
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("Which address is next")
struct APNsAddressBookTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private let all = ["a", "b", "c"]

    @Test("connections spread over all addresses, least used first")
    func spread() {
        var book = APNsAddressBook<String>()
        var uses: [String: Int] = [:]
        for _ in 0..<9 {
            guard let address = book.choose(from: all, at: start) else { return }
            book.connected(address)
            uses[address, default: 0] += 1
        }
        #expect(uses == ["a": 3, "b": 3, "c": 3])
        book.closed("b")
        #expect(book.choose(from: all, at: start) == "b")
    }

    @Test("an address whose server said GOAWAY is left alone for five minutes while there is another")
    func goAway() {
        var book = APNsAddressBook<String>()
        book.connected("a")
        book.saidGoAway("a", at: start)
        book.closed("a")
        for _ in 0..<4 { #expect(book.choose(from: all, at: start + .minutes(4)) != "a") }
        #expect(book.choose(from: ["a"], at: start + .minutes(4)) == "a")
        for address in ["b", "c"] { book.connected(address) }
        #expect(book.choose(from: all, at: start + .minutes(5)) == "a")
    }

    @Test("an address that fails is avoided, longer each time, and forgiven by one success")
    func failures() {
        var book = APNsAddressBook<String>()
        func isAvoided(_ book: APNsAddressBook<String>, at now: NIODeadline) -> Bool {
            var book = book
            book.connected("b")
            return book.choose(from: ["a", "b"], at: now) == "b"
        }
        book.failed("a", at: start)
        #expect(isAvoided(book, at: start + .seconds(29)))
        #expect(!isAvoided(book, at: start + .seconds(30)))
        book.failed("a", at: start + .seconds(30))
        #expect(isAvoided(book, at: start + .seconds(89)))
        #expect(!isAvoided(book, at: start + .seconds(90)))
        for _ in 0..<20 { book.failed("a", at: start) }
        #expect(!isAvoided(book, at: start + .minutes(10)))
        book.succeeded("a")
        book.failed("a", at: start + .minutes(20))
        #expect(!isAvoided(book, at: start + .minutes(20) + .seconds(30)))
    }

    @Test("when every address is avoided, the one whose time is up first is taken")
    func allAvoided() {
        var book = APNsAddressBook<String>()
        book.saidGoAway("a", at: start)
        book.failed("b", at: start)
        book.saidGoAway("c", at: start)
        #expect(book.choose(from: all, at: start) == "b")
    }

    @Test("addresses that rotate through DNS without end do not fill the memory")
    func bounded() {
        var book = APNsAddressBook<Int>()
        for number in 0..<10_000 { _ = book.choose(from: [number, number + 1], at: start) }
        #expect(book.count <= APNsAddressBook<Int>.capacity + 2)
    }

    @Test("another attempt begins only when the latest is slow, there are three at most, and the first to stand wins")
    func race() {
        var race = APNsConnectRace<String>()
        race.began("a")
        #expect(race.isSlow() == .attempt)
        race.began("b")
        #expect(race.isSlow() == .attempt)
        race.began("c")
        #expect(race.isSlow() == .none)
        #expect(race.succeeded("b") == .use("b"))
        #expect(race.succeeded("a") == .discard("a"))
        #expect(race.timedOut() == .none)
    }

    @Test("a failed attempt is followed by the next at once, until all have failed")
    func fallback() {
        var race = APNsConnectRace<String>()
        race.began("a")
        #expect(race.failed("a") == .attempt)
        race.began("b")
        #expect(race.failed("b") == .attempt)
        #expect(race.exhausted() == .fail)
        #expect(race.timedOut() == .none)
    }

    @Test("with no further address a running attempt is waited for")
    func lastChance() {
        var race = APNsConnectRace<String>()
        race.began("a")
        #expect(race.exhausted() == .none)
        #expect(race.failed("a") == .fail)
    }

    @Test("whatever happens, a race ends once and is bounded")
    func random() {
        var random = SeededGenerator()
        print("race of addresses: seed \(random.seed)")
        for _ in 0..<2000 {
            var race = APNsConnectRace<Int>()
            var running: [Int] = []
            var ends = 0
            var next = 0
            var pending: [APNsConnectRace<Int>.Instruction] = [.attempt]
            func follow() {
                while let instruction = pending.popLast() {
                    switch instruction {
                    case .attempt where next < 8:
                        race.began(next)
                        running.append(next)
                        next += 1
                    case .attempt: pending.append(race.exhausted())
                    case .use, .fail: ends += 1
                    case .none, .discard: break
                    }
                }
            }
            for _ in 0..<60 {
                follow()
                switch Int.random(in: 0..<4, using: &random) {
                case 0: pending.append(race.isSlow())
                case 1: if let first = running.popLast() { pending.append(race.failed(first)) }
                case 2 where Int.random(in: 0..<6, using: &random) == 0:
                    if let first = running.popLast() { pending.append(race.succeeded(first)) }
                default: break
                }
                #expect(running.count <= 3)
            }
            follow()
            if race.timedOut() == .fail { ends += 1 }
            #expect(ends == 1)
            #expect(race.tried.count <= APNsConnectRace<Int>.maximumAttempts)
        }
    }
}
