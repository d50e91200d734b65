import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Registration lists, to the byte")
struct RegistrationFeedTests {
    private static let head = #"""
        <feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title><id>https://push.example.test/demo/registrations?api-version=2020-06</id><updated>2026-03-01T10:00:00Z</updated><link rel="self" href="https://push.example.test/demo/registrations?api-version=2020-06"/>
        """#

    @Test("an empty list is a feed without entries")
    func empty() throws {
        let feed = RegistrationEntry.feed([], at: Samples.location("registrations"), updated: Samples.morning)
        #expect(feed == Self.head + "</feed>")
        #expect(try RegistrationDescription.read(feed: Array(feed.utf8)).isEmpty)
    }

    @Test("entries in a list do not declare Atom again")
    func entries() throws {
        let entry = RegistrationEntry(Samples.canonical, published: Samples.morning, updated: Samples.morning)
        let feed = RegistrationEntry.feed([entry, entry], at: Samples.location("registrations"), updated: Samples.morning)
        let inner = Samples.canonicalEntry.replacing(#" xmlns="http://www.w3.org/2005/Atom""#, with: "")
        #expect(feed == Self.head + inner + inner + "</feed>")
        #expect(try RegistrationDescription.read(feed: Array(feed.utf8)) == [Samples.canonical, Samples.canonical])
    }

    @Test("a list by tag lies elsewhere than its entries")
    func byTag() {
        let entry = RegistrationEntry(Samples.canonical, published: Samples.morning, updated: Samples.morning)
        let own = "https://push.example.test/demo/tags/vip/registrations?api-version=2020-06"
        let feed = RegistrationEntry.feed(
            [entry], at: Samples.location("registrations"), selfURL: own, updated: Samples.morning)
        #expect(feed.contains("<id>\(own)</id>"))
        #expect(feed.contains("<link rel=\"self\" href=\"\(own)\"/>"))
        #expect(feed.contains("<id>https://push.example.test/demo/registrations/7481203-1183-2?api-version=2020-06</id>"))
    }
}
