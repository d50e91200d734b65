import Testing

/// Reference/AzureNotificationHubs.md#3-1 and #3-2: `$InstallationId:{…}` and `$UserId:{…}`.
@Suite("Audiences that name a user or an installation")
struct AddressedAudienceTests {
    private static let token = RegistrationRequestTests.token
    private static let other = String(repeating: "0B", count: 32)
    private static let payload = #"{"aps":{"alert":"Hello"}}"#

    private func put(_ id: String, user: String, on hub: HubUnderTest, more: String = "") async throws -> ClientAnswer {
        func escaped(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
        let document = """
            {"installationId":"\(escaped(id))","platform":"apns","pushChannel":"\(user == "bob" ? Self.other : Self.token)","userId":"\(escaped(user))",
            "tags":["red"]\(more)}
            """
        let path = id.replacing("%", with: "%25").replacing("|", with: "%7C").replacing("}", with: "%7D")
        return try await hub.call(
            .dotNet, ClientRequest("PUT", HubClient.dotNet.installation(path), [], body: document), listens: true)
    }

    /// How many devices a test send to the audience reaches.
    private func reached(_ audience: String, on hub: HubUnderTest) async throws -> Int {
        let client = HubClient.javaScript
        let answer = try await hub.call(
            client,
            ClientRequest(
                "POST", client.messages(flag: "test"), client.sendHeaders(format: "apple", tags: audience), body: Self.payload))
        #expect(answer.status == 201, "\(answer.body)")
        return Int(answer.body.split(separator: "<Success>").last?.prefix { $0.isNumber } ?? "") ?? -1
    }

    @Test(
        "a user with a name as identity providers make them is reached, alone, also after a change",
        arguments: ["auth0|42", "ann+news@example.com", #"EXAMPLE\ann"#, "a b", "a,b", "user/1", "x{y", "Ünï"])
    func odd(_ user: String) async throws {
        let hub = try await HubUnderTest()
        #expect(try await put("i1", user: user, on: hub).status == 200)
        #expect(try await put("i2", user: "bob", on: hub).status == 200)
        #expect(try await reached("$UserId:{\(user)}", on: hub) == 1)
        #expect(try await reached("red && !$UserId:{\(user)}", on: hub) == 1)
        #expect(try await reached("$UserId:{\(user)} || $UserId:{bob}", on: hub) == 2)
        let patch = #"[{"op":"replace","path":"/userId","value":"carol|7"}]"#
        let patched = try await hub.call(.go, ClientRequest("PATCH", HubClient.go.installation("i1"), [], body: patch))
        #expect(patched.status == 200, "\(patched.body)")
        #expect(try await reached("$UserId:{\(user)}", on: hub) == 0)
        #expect(try await reached("$UserId:{carol|7}", on: hub) == 1)
    }

    @Test("an installation whose id has odd characters is reached", arguments: ["a+b", "a|b", "a,b", "x{y", "(a)"])
    func oddInstallation(_ id: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await put(id, user: "ann", on: hub)
        #expect(answer.status == 200, "\(answer.body)")
        #expect(try await reached("$InstallationId:{\(id)}", on: hub) == 1)
        #expect(try await reached("$InstallationId:{\(id)x}", on: hub) == 0)
    }

    @Test("a name that no expression could carry is refused where it is given, with the member that is wrong")
    func refused() async throws {
        let hub = try await HubUnderTest()
        for user in ["a}b", "x},username:bob", "a\nb", String(repeating: "x", count: 257)] {
            let answer = try await put("i1", user: user, on: hub)
            #expect(answer.status == 400 && answer.body.contains("userId"), "\(answer.body)")
        }
        let answer = try await put("a}b", user: "ann", on: hub)
        #expect(answer.status == 400 && answer.body.contains("installationId"), "\(answer.body)")
        #expect(try await put("i1", user: "ann", on: hub).status == 200)
        let patch = #"[{"op":"replace","path":"/userId","value":"a}b"}]"#
        let patched = try await hub.call(.go, ClientRequest("PATCH", HubClient.go.installation("i1"), [], body: patch))
        #expect(patched.status == 400 && patched.body.contains("userId"), "\(patched.body)")
        #expect(try await reached("$UserId:{ann}", on: hub) == 1)
    }

    @Test("the special tags come back in lists, but to the client that drops all tags for one with odd characters")
    func lists() async throws {
        let hub = try await HubUnderTest()
        #expect(try await put("i1", user: "auth0|4,2", on: hub).status == 200)
        for (client, tags) in [
            (HubClient.java, "red,$InstallationId:{i1},$UserId:{auth0|4,2}"), (.dotNet, "red,$InstallationId:{i1}"),
        ] {
            let list = try await hub.call(client, ClientRequest("GET", client.registrations()))
            #expect(list.status == 200 && list.body.contains("<Tags>\(tags)</Tags>"), "\(list.body)")
        }
        let path = "/demo/tags/$UserId:%7Bauth0%7C4%2C2%7D/registrations"
        #expect(try RegistrationReading.feed(try await hub.call(.java, ClientRequest("GET", path))).count == 1)
    }

    @Test("an installation may send its own special tags back, in its tags and in those of a template")
    func own() async throws {
        let hub = try await HubUnderTest()
        func template(_ tag: String) -> String {
            #","templates":{"t":{"body":"{\"aps\":{\"alert\":\"$(m)\"}}","tags":["\#(tag)"]}}"#
        }
        #expect(try await put("i1", user: "auth0|42", on: hub, more: template("$UserId:{auth0|42}")).status == 200)
        let other = try await put("i1", user: "auth0|42", on: hub, more: template("$UserId:{auth0|43}"))
        #expect(other.status == 400 && other.body.contains("another installation or user"), "\(other.body)")
        let answer = try await hub.call(
            .javaScript,
            ClientRequest(
                "POST", HubClient.javaScript.messages(flag: "test"),
                HubClient.javaScript.sendHeaders(format: "template", tags: "$UserId:{auth0|42}"), body: #"{"m":"x"}"#))
        #expect(answer.body.contains("<Success>1</Success>"), "\(answer.body)")
    }
}
