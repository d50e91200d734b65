import HubProtocol
import RichPushModel
import Testing

@Suite("Queries, conditions and lists")
struct ListRequestTests {
    private func fault(_ query: String) -> String {
        do {
            _ = try ListQuery(HubQuery(query))
            return "none"
        } catch { return error.description }
    }

    @Test("direct and test are flags with or without a value, anywhere in the query")
    func flags() {
        for query in [
            "api-version=2020-06&direct", "direct&api-version=2015-04", "a=b&direct=", "direct=true", "DIRECT=True", "%64irect",
        ] {
            #expect(HubQuery(query).isDirect, "\(query)")
        }
        for query in ["direct=false", "direct=0", "xdirect", "", "test"] { #expect(!HubQuery(query).isDirect, "\(query)") }
        #expect(HubQuery("x&test=true").isTest)
        #expect(!HubQuery(nil).isTest)
    }

    @Test("the version is echoed, unless it is no version")
    func version() {
        #expect(HubQuery("api-version=2013-08").apiVersion == "2013-08")
        #expect(HubQuery("API-Version=2015-01&x").apiVersion == "2015-01")
        for query in [
            nil, "", "api-version=", "api-version=a%0D%0Ab", "api-version=%22",
            "api-version=" + String(repeating: "1", count: 33),
        ] {
            #expect(HubQuery(query).apiVersion == "2020-06")
        }
    }

    @Test(
        "a condition arrives in five shapes",
        arguments: [
            ("*", IfMatch.any), ("\"*\"", .any), ("\"3\"", .etag("3")), ("W/\"3\"", .etag("3")), ("3", .etag("3")),
            (" W/\"12\" ", .etag("12")), ("W/*", .any), ("\"\"", .etag("")),
        ])
    func ifMatch(_ text: String, _ condition: IfMatch) {
        #expect(IfMatch(header: text) == condition)
        if condition != .any { #expect(IfMatch(header: text)?.matches(4) == false) }
    }

    @Test("a condition matches its version only, and none is no condition")
    func matching() {
        #expect(IfMatch(header: nil) == nil)
        #expect(IfMatch.any.matches(7))
        #expect(IfMatch(header: "\"3\"")?.matches(3) == true)
        for text in ["abc", "", "-3", "3.0", "99999999999999999999", "\"3"] {
            #expect(IfMatch(header: text)?.matches(3) == false, "\(text)")
        }
        #expect(IfMatch.any.header == "*")
        #expect(IfMatch.etag("3").header == "\"3\"")
        #expect(IfMatch.header(of: 1) == "W/\"1\"")
    }

    @Test("page size and token are read under all their names")
    func listQuery() throws {
        let token = ContinuationToken(key: 42)
        for query in ["$top=2&continuationtoken=\(token.text)", "%24top=2&ContinuationToken=\(token.text)&api-version=2020-06"] {
            let list = try ListQuery(HubQuery(query))
            #expect(list.top == 2)
            #expect(list.continuation?.key == 42)
        }
        #expect(try ListQuery(HubQuery(nil)) == ListQuery())
        #expect(try ListQuery(HubQuery("$skip=0&$top=2147483647")).top == 100)
        #expect(fault("$top=0") == "$top: a page has at least one entry")
        #expect(fault("$top=many") == "$top: a whole number is expected")
        #expect(fault("$top=-1") == "$top: a whole number is expected")
        #expect(fault("continuationtoken=AAAA") == "continuationtoken: this server has not made the token")
        #expect(fault("continuationtoken=%2500") == "continuationtoken: this server has not made the token")
    }

    @Test("a token has no character that any client alters, and reads back", arguments: [0, 1, -1, 42, Int64.max, .min])
    func token(_ key: Int64) {
        let token = ContinuationToken(key: key)
        #expect(
            token.text.utf8.allSatisfy { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8.contains($0) })
        #expect(ContinuationToken(token.text)?.key == key)
        #expect(ContinuationToken(token.text + "A") == nil)
    }

    @Test("a token carries any position")
    func position() {
        for count in 0...20 {
            let position = (0..<count).map { UInt8($0 * 13 & 255) }
            #expect(ContinuationToken(ContinuationToken(position: position).text)?.position == position)
        }
        for text in ["", "A", "AA==", "A A", "é", String(repeating: "A", count: 513)] { #expect(ContinuationToken(text) == nil) }
    }

    @Test(
        "the filter of every client is read",
        arguments: [
            ("ChannelUri eq '0A1B'", RegistrationFilter.Property.channelURI, "0A1B"),
            ("DeviceToken eq 'ABAB'", .deviceToken, "ABAB"), ("deviceToken eq 'TOKEN'", .deviceToken, "TOKEN"),
            ("GcmRegistrationId eq 'x'", .gcmRegistrationID, "x"), ("FcmV1RegistrationId eq 'x'", .fcmV1RegistrationID, "x"),
            ("AdmRegistrationId  EQ  'x' ", .admRegistrationID, "x"), ("XiaomiRegistrationId eq 'x'", .xiaomiRegistrationID, "x"),
            ("DeviceToken eq 'it''s'", .deviceToken, "it's"),
        ])
    func filters(_ text: String, _ property: RegistrationFilter.Property, _ value: String) throws {
        let filter = try RegistrationFilter(text)
        #expect(filter.handle == .init(property, value))
        #expect(filter.details == [])
    }

    @Test("a filter of two and three conditions is read, a missing opening quote and a second encoding included")
    func compoundFilters() throws {
        let baidu = try RegistrationFilter("BaiduChannelId eq c' and BaiduUserId eq 'u'")
        #expect(baidu.handle == .init(.baiduUserID, "u"))
        #expect(baidu.details == [.init(.baiduChannelID, "c")])
        let browser = try RegistrationFilter("Endpoint eq 'https%3A%2F%2Fe.example.test%2F' and P256DH eq 'p' and Auth eq 'a'")
        #expect(browser.handle.values == ["https%3A%2F%2Fe.example.test%2F", "https://e.example.test/"])
        #expect(browser.details == [.init(.p256dh, "p"), .init(.auth, "a")])
        #expect(try RegistrationFilter(browser.text) == browser)
    }

    @Test("a filter in a query is decoded once as form data")
    func filterInQuery() throws {
        for query in [
            "api-version=2013-08&$filter=DeviceToken+eq+%27ABAB%27", "$filter=deviceToken+eq+'ABAB'&api-version=2013-04",
            "%24filter=DeviceToken%20eq%20'ABAB'",
        ] {
            #expect(try ListQuery(HubQuery(query)).filter?.handle == .init(.deviceToken, "ABAB"), "\(query)")
        }
        #expect(try ListQuery(HubQuery("$filter=")).filter == nil)
    }

    @Test(
        "another filter is refused with its place",
        arguments: [
            ("Tags eq 'a'", "$filter, character 5: the name of a handle is expected, such as ChannelUri or DeviceToken"),
            ("DeviceToken ne 'a'", "$filter, character 15: only the operator eq is known"),
            ("DeviceToken eq 'a", "$filter, character 18: a quote is missing"),
            ("DeviceToken eq ''", "$filter, character 18: the value is empty"),
            ("DeviceToken eq 'a' or Auth eq 'b'", "$filter, character 22: only and joins conditions"),
            ("Auth eq 'b'", "$filter: exactly one condition names a device token, such as ChannelUri or DeviceToken"),
            (
                "DeviceToken eq 'a' and ChannelUri eq 'b'",
                "$filter: exactly one condition names a device token, such as ChannelUri or DeviceToken"
            ),
        ])
    func refusedFilters(_ text: String, _ expected: String) {
        do {
            _ = try RegistrationFilter(text)
            Issue.record("it was read")
        } catch { #expect(error.description == expected) }
    }

    @Test("ChannelUri means the handle of any platform, other names those of theirs")
    func platforms() {
        #expect(RegistrationFilter.Property.channelURI.platform == nil)
        #expect(RegistrationFilter.Property.deviceToken.platform == .apns)
        #expect(RegistrationFilter.Property.endpoint.platform == Platform(rawValue: "browser"))
    }
}
