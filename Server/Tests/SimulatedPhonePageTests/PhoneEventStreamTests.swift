import ClarionTesting
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@Suite("Events of the page")
struct PhoneEventStreamTests {
    private let phone = ScriptedPhone()

    /// Reads events while `script` runs; the phone is switched off at its end, which ends the stream.
    private func listen(
        _ harness: PageHarness, to path: String = "/phone/p1/events", with other: ScriptedPhone? = nil, headers: HTTPFields = [:],
        while script: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> TestResponse {
        let last = other ?? phone
        let before = await last.listenerCount
        async let answer = harness.call(.get, path, headers: headers)
        #expect(await eventually { await last.listenerCount != before })
        try await script()
        await phone.switchOff()
        await other?.switchOff()
        return try await answer
    }

    @Test("the phone as it is now comes first, then its story so far")
    func first() async throws {
        await phone.happen("one")
        await phone.happen("two")
        let answer = try await listen(PageHarness([phone]))
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "text/event-stream")
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(answer.events.map(\.name) == ["snapshot", "story", "story"])
        #expect(answer.events[0].data.contains(#""screen":"home""#))
        #expect(answer.events[2].data.contains(#""title":"two""#))
        #expect(answer.text.contains("retry: 1000\n"))
    }

    @Test("changes and steps follow as they happen")
    func live() async throws {
        let answer = try await listen(PageHarness([phone])) {
            await phone.show(screen: .main, user: "alice")
            await phone.happen("one")
        }
        let events = answer.events
        #expect(events.contains { $0.name == "snapshot" && $0.data.contains(#""user":"alice""#) })
        #expect(events.filter { $0.name == "story" }.map { $0.data.contains(#""title":"one""#) } == [true])
    }

    @Test("a browser that comes back hears what it missed, and nothing twice")
    func resume() async throws {
        let harness = PageHarness([phone])
        await phone.happen("one")
        let id = try #require(try await listen(harness).events.last?.id)
        await phone.happen("two")
        let answer = try await listen(harness, headers: [.lastEventID: id])
        #expect(answer.events.map(\.name) == ["snapshot", "story"])
        #expect(answer.events[1].data.contains(#""title":"two""#))
        #expect(answer.events[1].id == id.dropLast() + "2")
    }

    @Test(
        "an id of another start, or no id at all, gets the whole story",
        arguments: ["x-1", "1", "--", "é-1", "x-99999999999999999999"])
    func foreignID(id: String) async throws {
        await phone.happen("one")
        let answer = try await listen(PageHarness([phone]), headers: [.lastEventID: id])
        #expect(answer.events.map(\.name) == ["snapshot", "story"])
    }

    @Test("steps that a slow listener lost are sent before the next one")
    func gap() async throws {
        let answer = try await listen(PageHarness([phone])) {
            await phone.happen("one")
            await phone.happen("two", silently: true)
            await phone.happen("three")
        }
        let titles = answer.events.filter { $0.name == "story" }.compactMap {
            $0.data.firstMatch(of: /"title":"(\w+)"/).map { String($0.1) }
        }
        #expect(titles == ["one", "two", "three"])
    }

    @Test("a comment every 15 seconds keeps the connection open")
    func heartbeat() async throws {
        let harness = PageHarness([phone])
        let answer = try await listen(harness) {
            for _ in 0..<2 {
                #expect(await eventually { harness.clock.hasSleeper(dueIn: .seconds(15)) })
                harness.clock.advance(by: .seconds(15))
            }
            #expect(await eventually { harness.clock.hasSleeper(dueIn: .seconds(15)) })
        }
        #expect(answer.text.components(separatedBy: ": still here\n\n").count == 3)
    }

    @Test("text with line breaks and markup stays inside its event")
    func hostileText() async throws {
        let title = "a\n\nevent: snapshot\ndata: {}\r\n</script>"
        let answer = try await listen(PageHarness([phone])) { await phone.happen(title) }
        #expect(answer.events.filter { $0.name == "snapshot" }.count == 1)
        #expect(answer.events.filter { $0.name == "story" }.count == 1)
    }

    @Test("all phones share one stream, and each step appears for its phone only")
    func several() async throws {
        let other = ScriptedPhone(id: "p2", name: "Second phone")
        let harness = PageHarness([phone, other])
        let answer = try await listen(harness, to: "/phone/events", with: other) {
            await phone.happen("mine")
            await other.happen("yours")
            await other.show(screen: .main, user: "bob")
        }
        let steps = answer.events.filter { $0.name == "story" }
        #expect(steps.count == 2)
        #expect(steps.contains { $0.data.contains(#""phone":"p1""#) && $0.data.contains(#""title":"mine""#) })
        #expect(steps.contains { $0.data.contains(#""phone":"p2""#) && $0.data.contains(#""title":"yours""#) })
        #expect(answer.events.filter { $0.name == "snapshot" }.count >= 2, "one may stand for two that came at once")
        #expect(answer.events.contains { $0.name == "snapshot" && $0.data.contains(#""user":"bob""#) })
    }

    @Test("a browser that comes back to the stream of all phones hears of each what it missed")
    func resumeSeveral() async throws {
        let other = ScriptedPhone(id: "p2", name: "Second phone")
        let harness = PageHarness([phone, other])
        await phone.happen("one")
        await other.happen("two")
        let id = try #require(try await listen(harness, to: "/phone/events", with: other).events.last?.id)
        await other.happen("three")
        let answer = try await listen(harness, to: "/phone/events", with: other, headers: [.lastEventID: id])
        let steps = answer.events.filter { $0.name == "story" }
        #expect(steps.count == 1)
        #expect(steps.first?.data.contains(#""title":"three""#) == true)
        // The stream of one phone has other ids, so it sends the whole story.
        let alone = try await listen(harness, headers: [.lastEventID: id])
        #expect(alone.events.filter { $0.name == "story" }.count == 1)
    }

    @Test("a phone that is not there has no events")
    func unknownPhone() async throws {
        #expect(try await PageHarness([phone]).call(.get, "/phone/none/events").status == .notFound)
    }
}
