import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Hub management, to the byte")
struct HubDescriptionTests {
    private static let location = LocationHeader(
        authority: "push.example.test", fallback: "",
        route: HubRoute(operation: .hub, hub: "demo", hubSpelling: "demo", collectionSpelling: "", id: nil), apiVersion: "2020-06"
    )
    private static let namespace = LocationHeader(
        authority: "push.example.test", fallback: "",
        route: HubRoute(operation: .hubs, hub: "", hubSpelling: "", collectionSpelling: "", id: nil), apiVersion: "2020-06")

    private static let hub = {
        var hub = HubDescription()
        hub.name = "demo"
        hub.published = Samples.morning
        hub.updated = Samples.morning
        hub.registrationLifetime = .after(.seconds(90 * 86_400))
        hub.rules = [
            HubAccessRule(
                name: "DefaultListenSharedAccessSignature", rights: [.listen], primaryKey: "p=", secondaryKey: "s=")
        ]
        hub.userMetadata = "m"
        return hub
    }()

    private static let rest = #"""
        <id>https://push.example.test/demo?api-version=2020-06</id><title type="text">demo</title><published>2026-03-01T10:00:00Z</published><updated>2026-03-01T10:00:00Z</updated><link rel="self" href="https://push.example.test/demo?api-version=2020-06"/><content type="application/xml"><NotificationHubDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><RegistrationTtl>P90D</RegistrationTtl><AuthorizationRules><AuthorizationRule i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType><ClaimValue>None</ClaimValue><Rights><AccessRights>Listen</AccessRights></Rights><CreatedTime>2026-03-01T10:00:00Z</CreatedTime><ModifiedTime>2026-03-01T10:00:00Z</ModifiedTime><KeyName>DefaultListenSharedAccessSignature</KeyName><PrimaryKey>p=</PrimaryKey><SecondaryKey>s=</SecondaryKey></AuthorizationRule></AuthorizationRules><UserMetadata>m</UserMetadata></NotificationHubDescription></content></entry>
        """#

    @Test("one hub")
    func one() throws {
        let answer = "<entry xmlns=\"http://www.w3.org/2005/Atom\">" + Self.rest
        #expect(Self.hub.answer(at: Self.location) == answer)
        #expect(try HubDescription.read(answer: Array(answer.utf8)) == Self.hub)
    }

    @Test("the list of hubs")
    func list() throws {
        let head = #"""
            <feed xmlns="http://www.w3.org/2005/Atom"><title type="text">NotificationHubs</title><id>https://push.example.test?api-version=2020-06</id><updated>2026-03-01T10:00:00Z</updated><link rel="self" href="https://push.example.test?api-version=2020-06"/>
            """#
        let feed = HubDescription.feed([Self.hub], at: Self.namespace, updated: Samples.morning)
        #expect(feed == head + "<entry>" + Self.rest + "</feed>")
        #expect(try HubDescription.read(feed: Array(feed.utf8)).map(\.name) == ["demo"])
    }

    @Test("a hub that does not exist is an empty feed, and reads as none")
    func unknown() throws {
        let feed = HubDescription.unknownHub(at: Self.location, updated: Samples.morning)
        let expected = #"""
            <feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Publicly Listed Services</title><id>https://push.example.test/demo?api-version=2020-06</id><updated>2026-03-01T10:00:00Z</updated><link rel="self" href="https://push.example.test/demo?api-version=2020-06"/></feed>
            """#
        #expect(feed == expected)
        #expect(try HubDescription.read(answer: Array(feed.utf8)) == nil)
    }

    @Test("Java's unset values, the text null, are absent")
    func java() throws {
        let own = """
            <ApnsCredential><Properties><Property><Name>Endpoint</Name><Value>gateway.push.apple.com</Value></Property>\
            <Property><Name>Thumbprint</Name><Value>null</Value></Property><Property><Name>Token</Name><Value/></Property></Properties>\
            </ApnsCredential><RegistrationTtl>null</RegistrationTtl><UserMetadata>null</UserMetadata>
            """
        let text = Samples.description("NotificationHubDescription", own)
        let description = try HubDescription.read(entry: Samples.entry(text))
        var expected = HubDescription()
        expected.credentials[.apns] = CredentialProperties(values: ["Endpoint": "gateway.push.apple.com"])
        #expect(description == expected)
    }

    @Test("of two values of one name the first counts, and credentials of other push services are passed over")
    func credentials() throws {
        let own = """
            <WnsCredential><Properties><Property><Value>x</Value></Property></Properties></WnsCredential>\
            <ApnsCredential><Properties><Property><Name>KeyId</Name><Value>K</Value></Property>\
            <Property><Name>KeyId</Name><Value>L</Value></Property></Properties></ApnsCredential>
            """
        let read = try HubDescription.read(entry: Samples.entry(Samples.description("NotificationHubDescription", own)))
        #expect(read.credentials[.apns] == CredentialProperties(values: ["KeyId": "K"]))
    }

    @Test("an empty description is all that both clients need, and all that they may send")
    func minimal() throws {
        let empty = Samples.description("NotificationHubDescription", "")
        #expect(try HubDescription.read(entry: Samples.entry(empty)) == HubDescription())
        #expect(HubDescription().answer(at: Self.location).contains(empty))
    }

    @Test("neither credentials nor keys show in a printed value")
    func secrets() {
        var hub = Self.hub
        hub.credentials[.apns] = CredentialProperties(values: ["KeyId": "K", "AppName": "a<b"])
        let printed = "\(hub) \(String(reflecting: hub))"
        #expect(!printed.contains("p="))
        #expect(!printed.contains("s="))
        #expect(!printed.contains("a<b"))
    }

    @Test(
        "durations are read as .NET writes them",
        arguments: [
            ("P90D", 7_776_000), ("PT1H30M", 5400), ("P1DT0.5S", 86_400), ("PT0S", 0), ("P1Y2M3DT4H5M6.789S", 36_993_906),
        ])
    func durations(text: String, seconds: Int) throws { #expect(DurationText.read(text) == .some(.seconds(seconds))) }

    @Test("the longest duration is never", arguments: ["P10675199DT2H48M5.4775807S", "P10675199D", "P30000Y"])
    func never(text: String) { #expect(DurationText.read(text) == .some(nil)) }

    @Test(
        "what is no duration is refused",
        arguments: [
            "", "P", "PT", "90", "P1", "P1H", "PT1D", "PT1M1H", "P1D1D", "P-1D", "-P1D", "P1.5D", "PT1.S", "P1DT",
            "P99999999999999D",
            "PTT1S", "P1DT1H ",
        ])
    func noDurations(text: String) { #expect(DurationText.read(text) == nil) }

    @Test("durations are written in their largest units")
    func written() {
        for (seconds, text) in [(0, "PT0S"), (59, "PT59S"), (3661, "PT1H1M1S"), (86_400, "P1D"), (90_061, "P1DT1H1M1S")] {
            #expect(DurationText.write(.seconds(seconds)) == text)
        }
        #expect(DurationText.write(nil) == "P10675199DT2H48M5.4775807S")
    }
}
