import ClarionTesting
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Sends in several languages")
struct TranslationTests {
    /// A user with one installation that reports these languages.
    private func phone(
        _ test: TestBackend, _ name: String, _ number: Int, _ languages: [String]?, locale: String? = nil
    ) async throws -> Principal {
        let user = try await test.user(name)
        var update = InstallationUpdate(handle: Sample.handle(number), tags: [try #require(Tag("news"))])
        (update.languages, update.locale) = (languages, locale)
        let answer = try await test.backend.putInstallation(
            id: try #require(InstallationID("phone-\(name)")), update: update, for: user)
        return try await test.backend.authenticate(.bearer(try #require(answer.credential)), from: TestBackend.source)
    }

    private static func translations(_ change: (inout SendTranslation) -> Void = { _ in }) -> [SendTranslation] {
        var swedish = SendTranslation(language: "sv", message: "Hej")
        swedish.title = "Nyheter"
        change(&swedish)
        return [SendTranslation(language: "de", message: "Hallo"), swedish]
    }

    private func pushes(_ test: TestBackend) throws -> [String: String] {
        let command = try #require(test.hub.sends.last?.command)
        var bodies = ["": String(decoding: command.message.body, as: UTF8.self)]
        for translation in command.translations {
            bodies[translation.key.language?.text ?? ""] = String(decoding: translation.body, as: UTF8.self)
        }
        return bodies
    }

    @Test("the hub learns the languages of a device, or else its locale")
    func languages() async throws {
        let test = try await TestBackend()
        _ = try await phone(test, "ann", 1, ["sv-SE", "de"], locale: "en")
        _ = try await phone(test, "bob", 2, nil, locale: "de_CH")
        _ = try await phone(test, "eve", 3, nil)
        let found = test.hub.devices.values.reduce(into: [:]) { $0[$1.id.text] = $1.languages?.stored }
        #expect(found == ["phone-ann": "sv-SE,de", "phone-bob": "de-CH", "phone-eve": ""])
    }

    @Test(
        "with an open preview the push of each language has its own texts; what a translation leaves out is that of the request")
    func pushes() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let id = try await test.send(sender, to: "news") {
            ($0.title, $0.preview, $0.translations) = ("News", .open, Self.translations())
        }
        let pushes = try pushes(test)
        #expect(pushes.keys.sorted() == ["", "de", "sv"])
        #expect(pushes[""]?.contains(#""alert":{"title":"News","body":"Hello"}"#) == true)
        #expect(pushes["de"]?.contains(#""alert":{"title":"News","body":"Hallo"}"#) == true)
        #expect(pushes["sv"]?.contains(#""alert":{"title":"Nyheter","body":"Hej"}"#) == true)
        #expect(pushes.values.allSatisfy { $0.contains(#""richId":"\#(id)""#) })
        #expect(pushes["sv"]?.contains(#""richMessage":"Hej""#) == true)
    }

    @Test("with a neutral preview the push is the same in all languages, and says nothing")
    func neutral() async throws {
        let test = try await TestBackend()
        test.hub.decidesNoMore()
        let sender = try await test.user("sender")
        _ = try await test.send(sender, to: "news") { $0.translations = Self.translations() }
        #expect(try pushes(test).keys.sorted() == [""])
        #expect(try pushes(test)[""]?.contains("Hello") == false)
    }

    @Test("a hub elsewhere refuses what it cannot do before anything is stored")
    func elsewhere() async throws {
        let test = try await TestBackend()
        test.hub.decidesNoMore()
        let sender = try await test.user("sender")
        let found = await refusal {
            _ = try await test.send(sender, to: "news") { ($0.preview, $0.translations) = (.open, Self.translations()) }
        }
        #expect(found?.code == .conflict && found?.detail?.contains("preview neutral") == true)
        #expect(try await test.rows(of: "rich_notifications") == 0)
    }

    @Test("an installation reads in the languages that it reported, in its inbox and by id")
    func reads() async throws {
        let test = try await TestBackend()
        let readers = [
            try await phone(test, "ann", 1, ["sv-SE"]), try await phone(test, "bob", 2, ["fr", "de-AT"]),
            try await phone(test, "eve", 3, ["fr"]), try await phone(test, "zoe", 4, nil, locale: "sv"),
        ]
        let sender = try await test.user("sender")
        _ = try await test.send(sender, to: "news") { $0.message = "without" }
        let id = try await test.send(sender, to: "news") { ($0.title, $0.translations) = ("News", Self.translations()) }
        var found: [String] = []
        for reader in readers {
            let page = try await test.backend.inbox(accepting: "de", for: reader)
            let entry = try await test.backend.details(of: id, accepting: "de", for: reader)
            #expect(page.notifications.first == entry && page.notifications.last?.message == "without")
            found.append("\(entry.language ?? "-") \(entry.title ?? "-") \(entry.message)")
        }
        #expect(found == ["sv Nyheter Hej", "de News Hallo", "- News Hello", "sv Nyheter Hej"])
    }

    @Test("another caller reads in the languages of Accept-Language, and a device that reports others reads in those")
    func accepts() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let id = try await test.send(sender) { $0.translations = Self.translations() }
        func language(_ field: String?) async throws -> String? {
            try await test.backend.details(of: id, accepting: field, for: sender).language
        }
        #expect(try await language(nil) == nil)
        #expect(try await language("fr, sv;q=0.5, de;q=0.1") == "sv")
        #expect(try await language("en") == nil)
        let reader = try await phone(test, "ann", 1, ["sv"])
        let other = try await test.send(sender, to: "news") { $0.translations = Self.translations() }
        #expect(try await test.backend.details(of: other, for: reader).message == "Hej")
        var update = InstallationUpdate(handle: Sample.handle(1), tags: [try #require(Tag("news"))])
        update.languages = ["de"]
        _ = try await test.backend.putInstallation(
            id: try #require(InstallationID("phone-ann")), update: update, for: try await test.signIn("ann"))
        let again = try await test.signIn("ann")
        #expect(try await test.backend.details(of: other, accepting: "sv", for: again).message == "Hej", "no installation")
        #expect(test.hub.devices.values.first?.languages?.stored == "de")
    }

    @Test("pictures, small variants and links differ by language, and a ticket opens what its reader was shown")
    func contents() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let (plain, own, thumb) = (
            try await test.store(Sample.png(byteCount: 600), sender), try await test.store(Sample.png(byteCount: 700), sender),
            try await test.store(Sample.png(byteCount: 800), sender)
        )
        let id = try await test.send(sender) {
            ($0.contentID, $0.thumbID) = (plain, thumb)
            $0.translations = Self.translations { $0.contentID = own }
        }
        func size(_ variant: ContentVariant, _ field: String?) async throws -> Int64 {
            try await test.backend.findContent(of: id, variant: variant, accepting: field, for: sender).descriptor.byteCount
        }
        #expect(try await [size(.original, nil), size(.original, "de"), size(.original, "sv")] == [600, 600, 700])
        #expect(
            try await [size(.thumb, nil), size(.thumb, "de"), size(.thumb, "sv")] == [800, 800, 700], "its own, if it has one")
        for (field, expected) in [("sv", 700), ("de", 600), (nil, 600)] as [(String?, Int64)] {
            let issued = try await test.backend.issueTicket(for: id, variant: .original, accepting: field, for: sender)
            let found = try await test.backend.redeem(ticket: issued.ticket, for: id, variant: .original)
            #expect(found.descriptor.byteCount == expected, "\(field ?? "none")")
        }
        let link = try await test.send(sender) {
            $0.link = "https://example.org/en"
            $0.translations = Self.translations { $0.link = "https://example.org/sv" }
        }
        for (field, expected) in [("sv", "sv"), ("de", "en")] {
            let found = try await test.backend.findContent(of: link, variant: .original, accepting: field, for: sender)
            let bytes = try await TestBackend.bytes(of: try await test.backend.open(found))
            #expect(String(decoding: bytes, as: UTF8.self) == "https://example.org/\(expected)\r\n")
        }
    }

    @Test("the contents of translations are kept as long as the send, and expire with a recall")
    func keeps() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let own = try await test.store(Sample.png(byteCount: 700), sender)
        let plain = try await test.store(Sample.png(byteCount: 600), sender)
        let id = try await test.send(sender) {
            ($0.contentID, $0.translations) = (plain, Self.translations { $0.contentID = own })
        }
        test.clock.advance(by: .seconds(30 * 3600))
        try await test.upkeep.work()
        let found = try await test.backend.findContent(of: id, variant: .original, accepting: "sv", for: sender)
        #expect(try await TestBackend.bytes(of: try await test.backend.open(found)).count == 700)
        #expect(try await test.rows(of: "content_claims") == 2)
        try await test.backend.recall(id, for: sender)
        #expect(try await test.rows(of: "content_claims") == 0)
        #expect(try await test.store.content(own, at: test.clock.now) == nil)
    }

    @Test("a schedule with links in several languages writes them once, shows what was asked for, and sends it")
    func schedules() async throws {
        let test = try await TestBackend()
        let reader = try await phone(test, "ann", 1, ["sv"])
        let sender = try await test.user("sender")
        var notification = SendRequest(message: "Hello")
        (notification.audience, notification.link, notification.preview) = ("news", "https://example.org/en", .open)
        notification.translations = Self.translations { $0.link = "https://example.org/sv" }
        let schedule = try await test.backend.schedule(
            ScheduleRequest(notification, at: test.clock.now + .seconds(3600)), for: sender)
        #expect(schedule.request.notification == notification)
        #expect(try await [test.rows(of: "contents"), test.rows(of: "content_claims")] == [2, 2])
        test.clock.advance(by: .seconds(3600))
        try await test.upkeep.work()
        #expect(try await [test.rows(of: "contents"), test.rows(of: "content_claims")] == [2, 2])
        #expect(try pushes(test).keys.sorted() == ["", "de", "sv"])
        let id = try #require(try await test.backend.schedule(schedule.id, for: sender).lastSend)
        let found = try await test.content(of: id, for: reader)
        #expect(String(decoding: found, as: UTF8.self) == "https://example.org/sv\r\n")
        let again = try await test.backend.schedule(
            ScheduleRequest(notification, at: test.clock.now + .seconds(3600)), for: sender)
        try await test.backend.cancelSchedule(again.id, for: sender)
        #expect(try await test.rows(of: "content_claims WHERE holder LIKE 'schedule%'") == 0)
    }

    @Test("each mistake of a translation is refused with its place")
    func mistakes() async throws {
        let test = try await TestBackend()
        let (sender, other) = (try await test.user("sender"), try await test.user("other"))
        let foreign = try await test.store(other)
        let sound = try await test.store(Array("RIFF\u{1}\u{1}\u{1}\u{1}WAVEfmt ".utf8), sender)
        func detail(_ change: @escaping (inout SendTranslation) -> Void) async -> String? {
            await refusal { _ = try await test.send(sender) { $0.translations = Self.translations(change) } }?.detail
        }
        #expect(
            await detail { $0.language = "svenska!" }?.hasPrefix("translations[1].language: it must be a language tag") == true)
        #expect(await detail { $0.language = "DE" } == "translations[1].language: it must be another than those before")
        #expect(await detail { $0.message = "" } == "translations[1]: message: it must be 1 to 2000 characters")
        #expect(await detail { $0.contentID = foreign } == "translations[1]: contentId: there is no such content of yours")
        #expect(await detail { $0.contentID = sound }?.contains("kind sound") == true)
        #expect(await detail { $0.link = "ftp://example.org" }?.hasPrefix("translations[1]: link:") == true)
        let long = await refusal {
            _ = try await test.send(sender) {
                ($0.preview, $0.translations) = (.open, Self.translations { $0.message = String(repeating: "å", count: 2_000) })
            }
        }
        #expect(long?.code == .payloadTooLarge && long?.detail?.hasPrefix("translations[1]: the push") == true)
        let many = await refusal {
            _ = try await test.send(sender) {
                $0.translations = (0...50).map { SendTranslation(language: "l\($0)", message: "a") }
            }
        }
        #expect(many?.detail == "translations: it must be a list of at most 50")
    }

    @Test("a translation with nothing but its language says which language the text of the send is in")
    func ownLanguage() async throws {
        let test = try await TestBackend()
        let reader = try await phone(test, "ann", 1, ["en-GB", "sv"])
        let sender = try await test.user("sender")
        let without = try await test.send(sender, to: "news") { $0.translations = Self.translations() }
        let id = try await test.send(sender, to: "news") {
            ($0.preview, $0.translations) = (.open, Self.translations() + [SendTranslation(language: "en")])
        }
        #expect(try await test.backend.details(of: without, for: reader).message == "Hej", "no better one is known")
        #expect(try await test.backend.details(of: id, for: reader).message == "Hello")
        #expect(try pushes(test)["en"] == (try pushes(test)[""]))
    }

    @Test("translations of the largest numbers are sent, read and removed")
    func largest() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        _ = try await test.database.write {
            try $0.run(SQLStatement("INSERT INTO backend_counters VALUES (1, 'notification', $1)"), [.integer(2_147_483_640)])
        }
        let id = try await test.send(sender) { ($0.preview, $0.translations) = (.open, Self.translations()) }
        #expect(id.number == 2_147_483_641)
        #expect(try pushes(test).keys.sorted() == ["", "de", "sv"])
        #expect(try await test.backend.details(of: id, accepting: "sv", for: sender).message == "Hej")
        try await test.backend.eraseUser(name: "sender")
        #expect(try await test.rows(of: "rich_translations") == 0)
    }

    @Test("a request that has expired is refused for its language all the same, as a repeat may be")
    func expired() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let error = await refusal {
            _ = try await test.send(sender, key: "k") {
                ($0.expiresAt, $0.translations) = (test.clock.now, [SendTranslation(language: "", message: "a")])
            }
        }
        #expect(error?.detail?.hasPrefix("translations[0].language:") == true)
    }

    @Test("a repeat under the key gets the first answer, and other translations are another request")
    func repeats() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        let first = try await test.send(sender, key: "k") { $0.translations = Self.translations() }
        #expect(try await test.send(sender, key: "k") { $0.translations = Self.translations() } == first)
        #expect(
            await code {
                _ = try await test.send(sender, key: "k") { $0.translations = Self.translations { $0.message = "Hejsan" } }
            } == .idempotencyMismatch)
    }
}
