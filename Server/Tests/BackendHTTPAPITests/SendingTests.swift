import AppBackend
import HTTPTypes
import RichPushModel
import Testing

@Suite("Sending over HTTP")
struct SendingTests {
    @Test("an object answers 201 with the id, the tracking id and who may read it")
    func object() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(
            .post, "/api/v1/notifications", as: "sam", #"{"message":"m","audience":"username:ann && !beta","preview":"open"}"#)
        #expect(answer.status == .created)
        let sent = try answer.decoded(SendAnswer.self)
        #expect(!sent.readableBy.isEmpty)
        #expect(!sent.trackingID.isEmpty)
        #expect(bench.hub.sends.count == 1)
        let status = try await bench.call(.get, "/api/v1/notifications/\(sent.id)/status", as: "sam")
        #expect(try status.decoded(SendStatus.self).outcomes == ["accepted": 2])
        #expect(try await bench.call(.get, "/api/v1/notifications/\(sent.id)/status", as: "bob").status == .notFound)
    }

    @Test("each accepted send is one line of the log that leads from the request to the send, without its content")
    func logLine() async throws {
        let bench = try await BackendBench()
        let body = #"{"message":"a secret","title":"hidden","audience":"username:ann"}"#
        let answer = try await bench.json(.post, "/api/v1/notifications", as: "sam", body)
        let sent = try answer.decoded(SendAnswer.self)
        let lines = bench.notes.lines.filter { $0.message == "A send was accepted" }
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line.level == .info)
        #expect(line.metadata["request_id"] == answer.headers[HTTPField.Name("X-Request-Id")!])
        #expect(line.metadata["rich_id"] == "\(sent.id)" && line.metadata["notification_id"] == sent.trackingID)
        #expect(line.metadata["user"] == "sam" && line.metadata["audience"] == "username:ann")
        #expect(!line.metadata.values.contains { $0.contains("secret") || $0.contains("hidden") })
    }

    @Test("sends of both tutorials and of a form are logged with their audience; a refused send is not logged")
    func logLines() async throws {
        let bench = try await BackendBench()
        _ = try await bench.call(.post, "/api/v1/notifications", as: "ann")
        _ = try await bench.json(.post, "/api/v1/notifications?pns=apns&to_tag=bob", as: "sam", #""hello""#)
        _ = try await bench.form(
            "/api/v1/notifications", as: "sam", [.json(#"{"message":"m","audience":"username:bob"}"#)])
        _ = try await bench.json(.post, "/api/v1/notifications", as: "ann", #"{"message":"m","audience":"&&"}"#)
        let lines = bench.notes.lines.filter { $0.message == "A send was accepted" }
        #expect(lines.map { $0.metadata["audience"] } == ["own devices", "bob", "username:bob"])
    }

    @Test("a pace is passed on, and one that is no whole number from 1 on is refused")
    func pace() async throws {
        let bench = try await BackendBench()
        for (text, status) in [("250", 201), ("0", 400), ("2.5", 400), ("\"fast\"", 400), ("null", 201)] {
            let body = #"{"message":"m","pushesPerSecond":\#(text)}"#
            #expect(try await bench.json(.post, "/api/v1/notifications", as: "ann", body).status.code == status, "\(text)")
        }
        #expect(bench.hub.sends.map(\.pushesPerSecond) == [250, nil])
    }

    @Test("a form carries the content with the words, in any order of its parts")
    func form() async throws {
        let bench = try await BackendBench()
        let picture = Fixtures.png(name: "large")
        let thumb = Fixtures.png(name: "small")
        let answer = try await bench.form(
            "/api/v1/notifications", as: "ann",
            [
                .file("thumb", "t.png", "image/png", thumb), .json(#"{"message":"look","title":"T"}"#),
                .file("content", "../a b.png", "application/octet-stream", picture),
            ])
        #expect(answer.status == .created)
        let id = try answer.decoded(SendAnswer.self).id
        #expect(try await bench.call(.get, "/api/v1/notifications/\(id)", as: "ann").bytes == picture)
        #expect(try await bench.call(.get, "/api/v1/notifications/\(id)?variant=thumb", as: "ann").bytes == thumb)
        let details = try await bench.call(.get, "/api/v1/notifications/\(id)/details", as: "ann").decoded(InboxEntry.self)
        #expect(details.kind == .image)
        #expect(details.title == "T")
        #expect(details.message == "look")
        #expect(details.content?.byteCount == Int64(picture.count))
    }

    @Test("a form without a byte is malformed and sends nothing; the rich push tutorial's empty JSON sends its picture")
    func emptyForm() async throws {
        let bench = try await BackendBench()
        for type in ["multipart/form-data; boundary=X", "multipart/form-data"] {
            for length in ["0", nil] {
                var headers: HTTPFields = [.contentType: type]
                headers[.contentLength] = length
                let answer = try await bench.call(.post, "/api/v1/notifications", as: "ann", headers: headers)
                #expect(answer.status == .badRequest)
                #expect(answer.code == "malformed-multipart")
            }
        }
        #expect(bench.hub.sends.isEmpty)
        let tutorial = try await bench.call(
            .post, "/api/notifications", as: "ann", headers: [.contentType: "application/json", .contentLength: "0"])
        #expect(tutorial.status == .ok || tutorial.status == .created)
        #expect(bench.hub.sends.count == 1)
    }

    @Test("a message of white space alone is refused", arguments: ["   ", #"\n\t"#, #"\u00A0\u200B"#])
    func blank(message: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(.post, "/api/v1/notifications", as: "ann", #"{"message":"\#(message)"}"#)
        #expect(answer.status == .badRequest)
        #expect(answer.detail == "message: it must be more than white space")
        #expect(bench.hub.sends.isEmpty)
    }

    @Test("content stored before is sent by its id, by its owner alone")
    func storedContent() async throws {
        let bench = try await BackendBench()
        let picture = Fixtures.png(name: "stored")
        let stored = try await bench.call(
            .post, "/api/v1/content", as: "ann",
            headers: [.contentType: "image/png", HTTPField.Name("X-File-Name")!: "Gr%C3%BC%C3%9Fe.png"], body: picture)
        #expect(stored.status == .created)
        let content = try stored.decoded(ContentAnswer.self)
        #expect(content.content.fileName == "Grüße.png")
        let body = #"{"message":"m","contentId":"\#(content.id)"}"#
        #expect(try await bench.json(.post, "/api/v1/notifications", as: "sam", body).status == .notFound)
        #expect(try await bench.json(.post, "/api/v1/notifications", as: "ann", body).status == .created)
    }

    @Test("a repeat under the same key sends once, also with the content in the request")
    func idempotency() async throws {
        let bench = try await BackendBench()
        let key: HTTPFields = [HTTPField.Name("Idempotency-Key")!: "order-7"]
        let parts: [FormPart] = [.json(#"{"message":"m"}"#), .file("content", "a.png", "image/png", Fixtures.png(name: "x"))]
        let first = try await bench.form("/api/v1/notifications", as: "ann", headers: key, parts)
        let second = try await bench.form("/api/v1/notifications", as: "ann", headers: key, parts)
        #expect(first.status == .created)
        #expect(second.status == .created)
        #expect(first.text == second.text)
        #expect(bench.hub.sends.count == 1)
        let other = try await bench.json(.post, "/api/v1/notifications", as: "ann", headers: key, #"{"message":"other"}"#)
        #expect(other.status == .unprocessableContent)
        #expect(other.code == "idempotency-mismatch")
        let foreign = try await bench.json(.post, "/api/v1/notifications", as: "bob", headers: key, #"{"message":"m"}"#)
        #expect(foreign.status == .created)
    }

    @Test("the forms of earlier clients repeat under a key as well")
    func idempotencyOfEarlierForms() async throws {
        let bench = try await BackendBench()
        let key: HTTPFields = [HTTPField.Name("Idempotency-Key")!: "order-8"]
        let first = try await bench.call(.post, "/api/notifications", as: "ann", headers: key)
        let second = try await bench.call(.post, "/api/notifications", as: "ann", headers: key)
        #expect(first.status == .ok)
        #expect(first.text == second.text)
        #expect(bench.hub.sends.count == 1)
        let uri = "/api/notifications?pns=apns&to_tag=ann"
        #expect(try await bench.json(.post, uri, as: "ann", headers: key, #""hi""#).status == .unprocessableContent)
        let other: HTTPFields = [HTTPField.Name("Idempotency-Key")!: "order-9"]
        let text = try await bench.json(.post, uri, as: "ann", headers: other, #""hi""#)
        #expect(text.status == .ok)
        #expect(try await bench.json(.post, uri, as: "ann", headers: other, #""hi""#).text == text.text)
        #expect(try await bench.json(.post, uri, as: "ann", headers: other, #""ho""#).status == .unprocessableContent)
        #expect(bench.hub.sends.count == 2)
    }

    @Test("a key that is no key is refused", arguments: ["", "a b", String(repeating: "k", count: 129)])
    func badKey(key: String) async throws {
        let bench = try await BackendBench()
        let headers: HTTPFields = [HTTPField.Name("Idempotency-Key")!: key]
        let answer = try await bench.json(.post, "/api/v1/notifications", as: "ann", headers: headers, #"{"message":"m"}"#)
        #expect(answer.status == .badRequest)
        #expect(bench.hub.sends.isEmpty)
    }

    @Test("a plain user sends to themself only")
    func rights() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(.post, "/api/v1/notifications", as: "ann", #"{"message":"m","audience":"news"}"#)
        #expect(answer.status == .forbidden)
        #expect(bench.hub.sends.isEmpty)
    }

    @Test("a recalled notification is gone for everybody, and only its sender can recall it")
    func recall() async throws {
        let bench = try await BackendBench()
        let id = try await bench.sendPicture(Fixtures.png(name: "x"), as: "ann")
        #expect(try await bench.call(.delete, "/api/v1/notifications/\(id)", as: "bob").status == .notFound)
        #expect(try await bench.call(.get, "/api/v1/notifications/\(id)", as: "ann").status == .ok)
        #expect(try await bench.call(.delete, "/api/v1/notifications/\(id)", as: "ann").status == .noContent)
        #expect(try await bench.call(.get, "/api/v1/notifications/\(id)", as: "ann").status == .notFound)
        #expect(try await bench.call(.get, "/api/v1/notifications", as: "ann").text.contains("\"notifications\":[]"))
        #expect(bench.hub.cancelled.count == 1)
    }
}

@Suite("Bad input")
struct BadInputTests {
    @Test(
        "in a send is a 400 that names what is wrong, and nothing is sent",
        arguments: [
            ("{", "malformed-json"), ("{}", "invalid-field"), ("[]", "invalid-field"), ("null", "invalid-field"),
            ("7", "invalid-field"),
            (#"{"message":5}"#, "invalid-field"), (#"{"message":null}"#, "invalid-field"),
            (#"{"message":["m"]}"#, "invalid-field"),
            (#"{"message":""}"#, "invalid-field"), (#"{"message":"m","mesage":"x"}"#, "invalid-field"),
            (#"{"message":"m","message":"n"}"#, "malformed-json"), (#"{"message":"\ud800"}"#, "malformed-json"),
            (#"{"message":"m","badge":NaN}"#, "malformed-json"), (#"{"message":"m","badge":1e999}"#, "invalid-field"),
            (#"{"message":"m","badge":"1"}"#, "invalid-field"),
            (#"{"message":"m","badge":99999999999999999999}"#, "invalid-field"),
            (#"{"message":"m","style":"loud"}"#, "invalid-field"), (#"{"message":"m","preview":1}"#, "invalid-field"),
            (#"{"message":"m","audience":"a &&"}"#, "invalid-audience"), (#"{"message":"m","audience":7}"#, "invalid-field"),
            (#"{"message":"m","audience":"((((("}"#, "invalid-audience"), (#"{"message":"m","audience":""}"#, "invalid-audience"),
            (#"{"message":"m","collapseId":"a\r\nx: y"}"#, "invalid-field"),
            (#"{"message":"m","expiresAt":-1}"#, "invalid-field"),
            (#"{"message":"m","link":"javascript:alert(1)","kind":"url"}"#, "invalid-field"),
            (#"{"message":"m","coupon":{"code":"c"}}"#, "invalid-field"), (#"{"message":"m","tags":[]}"#, "invalid-field"),
        ])
    func send(body: String, code: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.json(.post, "/api/v1/notifications", as: "sam", body)
        #expect(answer.status == .badRequest, "\(answer.text)")
        #expect(answer.code == code, "\(answer.text)")
        #expect(bench.hub.sends.isEmpty)
    }

    @Test("of 21 tags in an expression is refused")
    func tags() async throws {
        let bench = try await BackendBench()
        func send(_ count: Int) async throws -> String? {
            let audience = (0..<count).map { "t\($0)" }.joined(separator: " || ")
            return try await bench.json(
                .post, "/api/v1/notifications", as: "sam", #"{"message":"m","audience":"\#(audience)"}"#
            ).code
        }
        #expect(try await send(20) == nil)
        #expect(try await send(21) == "invalid-audience")
    }

    @Test("of ten megabytes of nesting is refused at the size, and a small nest at its depth")
    func nesting() async throws {
        let bench = try await BackendBench()
        let bomb = String(repeating: "[", count: 10 << 20)
        for (method, uri) in [
            (HTTPRequest.Method.post, "/api/v1/notifications"), (.put, "/api/register/7"), (.post, "/api/v1/audiences/count"),
        ] {
            #expect(try await bench.json(method, uri, as: "sam", bomb).code == "payload-too-large")
            #expect(try await bench.json(method, uri, as: "sam", String(repeating: "[", count: 1_000)).code == "malformed-json")
        }
        #expect(try await bench.call(.get, "/api/v1/me", as: "sam").status == .ok)
    }

    @Test(
        "in a registration is refused",
        arguments: [
            "{}", "[]", "\"x\"", #"{"Platform":"apns"}"#, #"{"Platform":5,"Handle":"AA"}"#, #"{"Platform":"wns","Handle":"AA"}"#,
            #"{"Platform":"apns","Handle":"XYZ"}"#, #"{"Platform":"apns","Handle":"A"}"#, #"{"Platform":"apns","Handle":""}"#,
            #"{"Platform":"apns","Handle":"AA","Tags":"x"}"#, #"{"Platform":"apns","Handle":"AA","Tags":[7]}"#,
            #"{"Platform":"apns","Handle":"AA","Tags":["a b"]}"#, #"{"platform":"apns","handle":"AA"}"#,
        ])
    func registration(body: String) async throws {
        let bench = try await BackendBench()
        #expect(try await bench.json(.put, "/api/register/abc", as: "ann", body).status == .badRequest)
        #expect(bench.hub.devices.isEmpty)
    }

    @Test(
        "in a query is a 400",
        arguments: ["limit=0", "limit=101", "limit=x", "before=x", "since=-1", "order=asc", "limit=1&limit=2"])
    func query(query: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.get, "/api/v1/notifications?\(query)", as: "ann")
        #expect(answer.status == .badRequest)
        #expect(answer.code == "invalid-field")
    }

    @Test(
        "in a media type is a 415",
        arguments: ["text/plain", "application/xml", "application/x-www-form-urlencoded", "application/json; charset=utf-16", ""])
    func mediaType(type: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(
            .post, "/api/v1/notifications", as: "sam", headers: [.contentType: type], body: Array(#"{"message":"m"}"#.utf8))
        #expect(answer.status == .unsupportedMediaType)
    }

    @Test("in a form is refused with its reason, and nothing is sent")
    func form() async throws {
        let bench = try await BackendBench()
        let picture = FormPart.file("content", "a.png", "image/png", Fixtures.png(name: "x"))
        let words = FormPart.json(#"{"message":"m"}"#)
        func send(_ parts: [FormPart]) async throws -> (String?, String?) {
            let answer = try await bench.form("/api/v1/notifications", as: "ann", parts)
            return (answer.code, answer.detail)
        }
        #expect(try await send([picture]) == ("invalid-field", "the part 'notification' is missing"))
        #expect(try await send([words, words]) == ("malformed-multipart", "the part 'notification' is given twice"))
        #expect(try await send([picture, picture, words]) == ("malformed-multipart", "the part 'content' is given twice"))
        #expect(try await send([words, .json("{}", name: "other")]).0 == "invalid-field")
        #expect(try await send([.json(#"{"message":"m","contentId":"x"}"#), picture]).0 == "invalid-field")
        #expect(try await send([.json(#"{"message":5}"#), picture]).1 == "field 'message': expected a string")
        #expect(try await send([.json(String(repeating: "[", count: 300_000))]).0 == "payload-too-large")
        #expect(bench.hub.sends.isEmpty)
    }

    @Test("as a wrong method or spelling is a 405 or 404, signed in or not")
    func routes() async throws {
        let bench = try await BackendBench()
        for user in [nil, "ann"] {
            #expect(try await bench.call(.put, "/api/notifications", as: user).status == .methodNotAllowed)
            #expect(try await bench.call(.post, "/api/notifications/", as: user).status == .notFound)
            #expect(try await bench.call(.post, "/API/notifications", as: user).status == .notFound)
            #expect(try await bench.call(.get, "/api/notifications/..%2f7", as: user).status == .notFound)
            #expect(try await bench.call(.get, "/api/v2/notifications", as: user).status == .notFound)
        }
        #expect(bench.hub.sends.isEmpty)
    }
}
