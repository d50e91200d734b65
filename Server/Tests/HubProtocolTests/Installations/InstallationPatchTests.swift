import RichPushModel
import Testing

@testable import HubProtocol

@Suite("Patches of installations")
struct InstallationPatchTests {
    private var installation: InstallationDocument {
        InstallationDocument(
            installationID: "i", userID: "ann", platform: .apns, pushChannel: .handle("AB"), pushChannelExpired: true,
            expirationTime: Timestamp(milliseconds: 1_900_000_000_000), tags: ["Red", "x:y@z#1.2-3"],
            templates: [
                InstallationTemplate(
                    name: "t1", body: "{}", headers: [HeaderField("apns-priority", "5")], expiry: "$(e)", tags: ["news", "sport"])
            ],
            secondaryTiles: [
                SecondaryTile(
                    name: "tile", pushChannel: "u", tags: ["w"], templates: [InstallationTemplate(name: "tt", body: "<t/>")])
            ])
    }

    private func patched(_ json: String, limits: HubLimits = HubLimits()) throws -> InstallationDocument {
        try InstallationPatch(parsing: json.utf8, limits: limits).applied(to: installation, limits: limits)
    }

    private func patched(_ op: String, _ path: String, _ value: String? = nil) throws -> InstallationDocument {
        let op = try #require(InstallationPatch.Operator(rawValue: op))
        return try InstallationPatch([.init(op, path, value)]).applied(to: installation)
    }

    private func fault(_ json: String, limits: HubLimits = HubLimits()) -> String {
        do {
            _ = try InstallationPatch(parsing: json.utf8, limits: limits).applied(to: installation, limits: limits)
            return "none"
        } catch { return error.description }
    }

    @Test("the documented example applies")
    func example() throws {
        let result = try patched(
            #"[{"op":"add","path":"/tags","value":"blue"},{"op":"remove","path":"/tags/red","value":null},{"op":"add","path":"/templates/t2","value":"{\"body\":\"{\\\"aps\\\":{\\\"alert\\\":\\\"$(m)\\\"}}\"}"}]"#
        )
        #expect(result.tags == ["x:y@z#1.2-3", "blue"])
        #expect(result.templates.map(\.name) == ["t1", "t2"])
        #expect(result.templates.last?.body == #"{"aps":{"alert":"$(m)"}}"#)
    }

    @Test("the push channel is set by add and by replace, and is not the rejected one any more", arguments: ["add", "replace"])
    func pushChannel(_ op: String) throws {
        let result = try patched(op, "/pushChannel", "CD")
        #expect(result.pushChannel == .handle("CD"))
        #expect(result.pushChannelExpired == nil)
    }

    @Test("user and expiration are set by add and by replace, and removed", arguments: ["add", "replace"])
    func plainMembers(_ op: String) throws {
        #expect(try patched(op, "/userId", "bob").userID == "bob")
        #expect(try patched("remove", "/userId").userID == nil)
        let moment = Timestamp(milliseconds: 1_771_408_800_000)
        #expect(try patched(op, "/expirationTime", "2026-02-18T10:00+0000").expirationTime == moment)
        #expect(try patched("remove", "/expirationTime").expirationTime == nil)
    }

    @Test("a tag is added once, a list at once, and replacing means the list given")
    func tags() throws {
        #expect(try patched("add", "/tags", "blue").tags == ["Red", "x:y@z#1.2-3", "blue"])
        #expect(try patched("add", "/tags", "red").tags == ["Red", "x:y@z#1.2-3"])
        #expect(try patched("add", "/tags", #"["blue","green"]"#).tags == ["Red", "x:y@z#1.2-3", "blue", "green"])
        #expect(try patched("replace", "/tags", #"["blue"]"#).tags == ["blue"])
        #expect(try patched("replace", "/tags", "blue").tags == ["blue"])
        #expect(try patched("remove", "/tags").tags == [])
        #expect(try patched("remove", "/tags/RED").tags == ["x:y@z#1.2-3"])
        #expect(try patched("remove", "/tags/x:y@z#1.2-3").tags == ["Red"])
        #expect(try patched("remove", "/tags/absent").tags == installation.tags)
    }

    @Test("when the last tag is removed the member goes")
    func lastTag() throws {
        let result = try patched(
            #"[{"op":"remove","path":"/tags/red"},{"op":"remove","path":"/tags/x:y@z#1.2-3"}]"#)
        #expect(!result.json.contains(#""tags":["Red"#))
        #expect(!result.json.contains(#"Z","tags""#))
    }

    @Test("a template is added, replaced whole and removed", arguments: ["add", "replace"])
    func templates(_ op: String) throws {
        #expect(try patched(op, "/templates/t2", #"{"body":"b"}"#).templates.map(\.name) == ["t1", "t2"])
        let replaced = try patched(op, "/templates/t1", #"{"body":"b","tags":["t1","n"]}"#)
        #expect(replaced.templates == [InstallationTemplate(name: "t1", body: "b", tags: ["n"])])
        #expect(try patched("remove", "/templates/t1").templates == [])
        #expect(try patched("remove", "/templates/absent").templates == installation.templates)
        #expect(try patched(op, "/templates/a~1b~0c", #"{"body":"b"}"#).templates.last?.name == "a/b~c")
    }

    @Test("parts of a template are set by add and by replace", arguments: ["add", "replace"])
    func templateParts(_ op: String) throws {
        #expect(try patched(op, "/templates/t1/body", "new").templates[0].body == "new")
        #expect(
            try patched(op, "/templates/t1/headers", #"{"apns-topic":"a.b"}"#).templates[0].headers
                == [HeaderField("apns-topic", "a.b")])
        #expect(try patched(op, "/templates/t1/expiry", "0").templates[0].expiry == "0")
        #expect(try patched("remove", "/templates/t1/headers").templates[0].headers == [])
        #expect(try patched("remove", "/templates/t1/expiry").templates[0].expiry == nil)
        #expect(try patched("remove", "/templates/absent/expiry") == installation)
    }

    @Test("tags of a template are added one by one, replaced as a list and removed")
    func templateTags() throws {
        #expect(try patched("add", "/templates/t1/tags", "new").templates[0].tags == ["news", "sport", "new"])
        #expect(try patched("replace", "/templates/t1/tags", #"["t1","a"]"#).templates[0].tags == ["a"])
        #expect(try patched("remove", "/templates/t1/tags").templates[0].tags == [])
        #expect(try patched("remove", "/templates/t1/tags/News").templates[0].tags == ["sport"])
    }

    @Test("secondary tiles and all their parts can be changed", arguments: ["add", "replace"])
    func tiles(_ op: String) throws {
        #expect(try patched(op, "/secondaryTiles/new", #"{"pushChannel":"v"}"#).secondaryTiles.map(\.name) == ["tile", "new"])
        #expect(
            try patched(op, "/secondaryTiles/tile", #"{"pushChannel":"v"}"#).secondaryTiles == [
                .init(name: "tile", pushChannel: "v")
            ])
        #expect(try patched("remove", "/secondaryTiles/tile").secondaryTiles == [])
        #expect(try patched(op, "/secondaryTiles/tile/pushChannel", "v").secondaryTiles[0].pushChannel == "v")
        #expect(try patched("replace", "/secondaryTiles/tile/tags", "a").secondaryTiles[0].tags == ["a"])
        #expect(try patched("remove", "/secondaryTiles/tile/tags/W").secondaryTiles[0].tags == [])
        #expect(try patched(op, "/secondaryTiles/tile/templates/n", #"{"body":"b"}"#).secondaryTiles[0].templates.count == 2)
        #expect(try patched(op, "/secondaryTiles/tile/templates/tt/body", "b").secondaryTiles[0].templates[0].body == "b")
        #expect(try patched("add", "/secondaryTiles/tile/templates/tt/tags", "b").secondaryTiles[0].templates[0].tags == ["b"])
        #expect(try patched("remove", "/secondaryTiles/absent/tags") == installation)
    }

    @Test("a list or an object that stands as itself, and operators in capitals, are read")
    func looseValues() throws {
        #expect(try patched(#"[{"op":"Replace","path":"/tags","value":["a","b"]}]"#).tags == ["a", "b"])
        #expect(try patched(#"[{"op":"add","path":"/templates/t","value":{"body":"b"}}]"#).templates.last?.body == "b")
    }

    @Test("operations apply in order, and none when one fails")
    func allOrNothing() throws {
        let before = installation
        let json =
            #"[{"op":"replace","path":"/tags","value":"a"},{"op":"add","path":"/tags","value":"b"},{"op":"add","path":"/nowhere","value":"c"}]"#
        #expect(fault(json) == "operation 3, /nowhere: no operation has such a path")
        #expect(before == installation)
        #expect(try patched(#"[{"op":"remove","path":"/tags"},{"op":"add","path":"/tags","value":"b"}]"#).tags == ["b"])
        #expect(try patched("[]") == installation)
    }

    @Test(
        "a fault names the operation and its path",
        arguments: [
            (#"{}"#, "body: a JSON array of operations is expected"),
            (#"[7]"#, "operation 1: an object with op, path and value is expected"),
            (#"[{"op":"move","path":"/tags"}]"#, "operation 1, op: it is add, replace or remove"),
            (#"[{"op":"add","value":"a"}]"#, "operation 1, path: a text is expected"),
            (#"[{"op":"add","path":"/tags","value":null}]"#, "operation 1, /tags: add needs a value"),
            (#"[{"op":"add","path":"/tags","value":""}]"#, "operation 1, /tags, value: it is empty"),
            (
                #"[{"op":"remove","path":"/pushChannel"}]"#,
                "operation 1, /pushChannel: the push channel cannot be removed; delete the installation instead"
            ),
            (#"[{"op":"remove","path":"/templates"}]"#, "operation 1, /templates: no operation has such a path"),
            (
                #"[{"op":"replace","path":"/secondaryTiles","value":"{}"}]"#,
                "operation 1, /secondaryTiles: no operation has such a path"
            ),
            (#"[{"op":"replace","path":"/platform","value":"wns"}]"#, "operation 1, /platform: no operation has such a path"),
            (#"[{"op":"add","path":"tags","value":"a"}]"#, "operation 1, tags: no operation has such a path"),
            (
                #"[{"op":"add","path":"/tags/a","value":"a"}]"#,
                "operation 1, /tags/a: a single tag in the path can only be removed; add /tags instead"
            ),
            (
                #"[{"op":"add","path":"/templates/x","value":"{"}]"#,
                "operation 1, /templates/x, value, byte 2: a member's name in quotes is expected"
            ),
            (
                #"[{"op":"add","path":"/templates/x","value":"[]"}]"#,
                "operation 1, /templates/x, value: the text of a JSON object is expected"
            ),
            (#"[{"op":"add","path":"/templates/x","value":"{}"}]"#, "operation 1, /templates/x, body: a text is expected"),
            (
                #"[{"op":"add","path":"/templates/x/body","value":"b"}]"#,
                "operation 1, /templates/x/body: there is no such template; add it whole first"
            ),
            (
                #"[{"op":"remove","path":"/templates/t1/body"}]"#,
                "operation 1, /templates/t1/body: a template cannot be without a body; remove the template instead"
            ),
            (
                #"[{"op":"add","path":"/secondaryTiles/x/tags","value":"b"}]"#,
                "operation 1, /secondaryTiles/x/tags: there is no such secondary tile; add it whole first"
            ),
            (
                #"[{"op":"add","path":"/tags","value":"$UserId:{bob}"}]"#,
                "after the operations, tags[2]: the tag names another installation or user"
            ),
            (
                #"[{"op":"add","path":"/expirationTime","value":"soon"}]"#,
                "operation 1, /expirationTime, expirationTime: a date and time such as 2026-03-01T10:00:00Z is expected"
            ),
        ])
    func faults(_ json: String, _ expected: String) { #expect(fault(json) == expected) }

    @Test("a template in the place of many a request stays within the limits")
    func limits() {
        var limits = HubLimits()
        limits.templates = 1
        #expect(
            fault(#"[{"op":"add","path":"/templates/x","value":"{\"body\":\"b\"}"}]"#, limits: limits)
                == "after the operations, templates: there are more than 1")
        limits.patchOperations = 1
        #expect(
            fault(#"[{"op":"remove","path":"/tags"},{"op":"remove","path":"/tags"}]"#, limits: limits)
                == "body: there are more than 1 operations")
    }

    @Test("a browser's new channel keeps the spelling of the old one")
    func browser() throws {
        let old = BrowserChannel(endpoint: "e", p256dh: "p", auth: "a", isObject: true)
        let installation = InstallationDocument(
            installationID: "i", platform: Platform(rawValue: "browser"), pushChannel: .browser(old))
        let value = #"{"endpoint":"f","p256dh":"p","auth":"a"}"#
        let result = try InstallationPatch([.init(.replace, "/pushChannel", value)]).applied(to: installation)
        #expect(result.pushChannel == .browser(BrowserChannel(endpoint: "f", p256dh: "p", auth: "a", isObject: true)))
    }

    @Test("the client writes a patch to the byte")
    func written() throws {
        let patch = InstallationPatch([.init(.add, "/tags", "blue"), .init(.remove, "/tags/red")])
        #expect(patch.json == #"[{"op":"add","path":"/tags","value":"blue"},{"op":"remove","path":"/tags/red"}]"#)
        #expect(try InstallationPatch(parsing: patch.json.utf8) == patch)
    }
}
