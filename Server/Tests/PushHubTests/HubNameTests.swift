import PushHub
import Testing

@Suite struct HubNameTests {
    @Test(
        "names differ in more than case, and keep their spelling",
        arguments: ["a", "News", "my.hub-1_x", String(repeating: "a", count: 260)])
    func fits(_ text: String) throws {
        let name = try #require(HubName(text))
        #expect(name.text == text)
        #expect("\(name)" == text)
        #expect(name == HubName(text.uppercased()))
        #expect(Set([name, try #require(HubName(text.uppercased()))]).count == 1)
    }

    @Test(
        "what would hide a path, climb out of one, or be written differently in a URL is no name",
        arguments: HubName.reserved + HubName.reserved.map { $0.uppercased() } + [
            "", ".", "..", "-a", "a-", ".a", "a.", "_a", "a b", "a/b", "a%2fb", "a:b", "$batch", "ä", "a\u{0}", "a\n",
            "K\u{212A}", "openapi.yaml", "openapi.json", "openapi-hub.yaml", "openapi-hub.json", "OpenAPI.yaml",
            String(repeating: "a", count: 261),
        ])
    func refused(_ text: String) { #expect(HubName(text) == nil) }
}
