import FCMProtocol
import RichPushModel
import Testing

@Suite("Answers of FCM")
struct FCMAnswerTests {
    private static let now = Timestamp(seconds: 1_700_000_000)

    /// An error as Google writes it, with FCM's own detail where `code` is given.
    private static func body(
        _ code: String? = nil, status: String = "UNKNOWN", message: String = "", fields: [String] = []
    ) -> String {
        var details =
            code.map { [#"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"#] } ?? []
        if !fields.isEmpty {
            let violations = fields.map { #"{"field":"\#($0)","description":"d"}"# }.joined(separator: ",")
            details.append(#"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[\#(violations)]}"#)
        }
        return
            #"{"error":{"code":0,"message":"\#(message)","status":"\#(status)","details":[\#(details.joined(separator: ","))]}}"#
    }

    private func answer(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> FCMAnswer {
        FCMAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8), now: Self.now)
    }

    @Test(
        "each code of FCM has its consequence",
        arguments: [
            (400, "INVALID_ARGUMENT", FCMAnswer.Disposition.refused), (404, "UNREGISTERED", .unregistered),
            (403, "SENDER_ID_MISMATCH", .wrongSender), (429, "QUOTA_EXCEEDED", .later), (503, "UNAVAILABLE", .later),
            (500, "INTERNAL", .later), (401, "THIRD_PARTY_AUTH_ERROR", .thirdPartyAuth),
            (401, "APNS_AUTH_ERROR", .thirdPartyAuth),
            (400, "UNSPECIFIED_ERROR", .refused), (503, "UNSPECIFIED_ERROR", .later), (418, "SOMETHING_NEW", .refused),
            (404, "INTERNAL", .later),
            (404, "UNAVAILABLE", .later), (403, "QUOTA_EXCEEDED", .later),
        ])
    func codes(status: Int, code: String, disposition: FCMAnswer.Disposition) {
        #expect(answer(status, Self.body(code)).disposition == disposition)
    }

    @Test(
        "an answer without a code of FCM is read by its status",
        arguments: [
            (200, FCMAnswer.Disposition.accepted), (400, .refused), (401, .unauthorized), (403, .permissionDenied),
            (404, .wrongProject), (302, .wrongProject), (413, .tooLarge), (408, .later), (429, .later), (500, .later),
            (502, .later),
            (503, .later), (504, .later), (405, .refused),
        ])
    func statuses(status: Int, disposition: FCMAnswer.Disposition) { #expect(answer(status).disposition == disposition) }

    @Test("a message is accepted without its name being read")
    func accepted() { #expect(answer(200, #"{"name":"projects/p/messages/0:15"}"#).disposition == .accepted) }

    @Test("a page with a good status is not FCM's")
    func page() { #expect(answer(200, "<html>Sign in to the network</html>").disposition == .wrongProject) }

    @Test("a 404 without an FcmError touches no token")
    func wrongProject() {
        #expect(
            answer(404, Self.body(status: "NOT_FOUND", message: "Requested entity was not found.")).disposition == .wrongProject)
        #expect(answer(404, "<html>404</html>").disposition == .wrongProject)
    }

    @Test("a 404 with another FcmError is not the project's fault and touches no token")
    func otherNotFound() { #expect(answer(404, Self.body("UNSPECIFIED_ERROR")).disposition == .refused) }

    @Test(
        "a target is called bad only where a field violation names it",
        arguments: [
            (["message.token"], FCMAnswer.Disposition.badTarget), (["message.fid"], .badTarget),
            (["message.data[0].value", "message.token"], .badTarget), (["message.android.ttl"], .refused),
            (["message"], .refused),
            (["message.token_x"], .refused), ([], .refused),
        ])
    func badTarget(fields: [String], disposition: FCMAnswer.Disposition) {
        let message = "The registration token is not a valid FCM registration token"
        #expect(answer(400, Self.body("INVALID_ARGUMENT", message: message, fields: fields)).disposition == disposition)
        #expect(answer(400, Self.body(status: "INVALID_ARGUMENT", fields: fields)).disposition == disposition)
    }

    @Test("a field violation of another status does not condemn a target")
    func otherViolation() { #expect(answer(403, Self.body(fields: ["message.token"])).disposition == .permissionDenied) }

    @Test("a message that is too big is recognised by its text", arguments: ["Android message is too big", "Message is too big"])
    func tooLarge(message: String) {
        #expect(answer(400, Self.body("INVALID_ARGUMENT", message: message)).disposition == .tooLarge)
    }

    @Test(
        "an answer that is no JSON is read by its status, a 502 with a page among them",
        arguments: [
            "<html><title>Error 502 (Server Error)!!1</title></html>", "{", "[]", "{\"error\":7}",
            "{\"error\":{\"details\":[7]}}",
        ])
    func garbage(body: String) {
        #expect(answer(502, body).disposition == .later)
        #expect(answer(502, body).reason == "status 502")
    }

    @Test("a pause is read in both forms")
    func pauses() {
        #expect(answer(429, retryAfter: "120").pause == .seconds(120))
        #expect(answer(503, retryAfter: "Tue, 14 Nov 2023 22:13:50 GMT").pause == .seconds(30))
        #expect(answer(503, retryAfter: "soon").pause == nil)
    }

    @Test("without a pause a 429 waits a minute, and a 5xx ten seconds")
    func leastPauses() {
        #expect(answer(429).leastPause == .seconds(60))
        #expect(answer(503).leastPause == .seconds(10))
        #expect(answer(429, retryAfter: "7").leastPause == .seconds(7))
    }

    @Test("the reason is FCM's word with the field, then the status's, then its number")
    func reasons() {
        #expect(
            answer(400, Self.body("INVALID_ARGUMENT", fields: ["message.android.ttl"])).reason
                == "INVALID_ARGUMENT at message.android.ttl")
        #expect(answer(403, Self.body(status: "PERMISSION_DENIED")).reason == "PERMISSION_DENIED")
        #expect(answer(503).reason == "status 503")
    }

    @Test("the reason holds no text that a log should not show")
    func safeReasons() {
        #expect(answer(400, Self.body("two words")).reason == "UNSPECIFIED_ERROR")
        #expect(answer(400, Self.body(status: String(repeating: "A", count: 101))).reason == "status 400")
    }

    @Test("a 429 without FCM's own code is about the project, one with it about its target, and a 5xx about the service")
    func quotas() {
        #expect(answer(429, Self.body(status: "RESOURCE_EXHAUSTED")).scope == .project)
        #expect(answer(429, Self.body("QUOTA_EXCEEDED")).scope == .target)
        #expect(answer(503, Self.body("UNAVAILABLE")).scope == .service)
        #expect(answer(502).scope == .service)
    }
}

@Suite("Access tokens of Google")
struct FCMAccessTokenTests {
    private func token(
        _ status: Int = 200, _ body: String, retryAfter: String? = nil
    ) throws(FCMTokenRefusal) -> (authorization: String, life: Duration) {
        try FCMAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8), now: Timestamp(seconds: 0)).accessToken()
    }

    private func refusal(_ status: Int = 200, _ body: String, retryAfter: String? = nil) -> FCMTokenRefusal? {
        #expect(throws: FCMTokenRefusal.self) { try token(status, body, retryAfter: retryAfter) }
    }

    @Test("a token is read with its life")
    func read() throws {
        let token = try token(200, #"{"access_token":"ya29.c","expires_in":3599,"token_type":"Bearer"}"#)
        #expect(token.authorization == "Bearer ya29.c")
        #expect(token.life == .seconds(3599))
    }

    @Test(
        "what is no token may become one later",
        arguments: [
            "<html></html>", "{}", #"{"access_token":"a"}"#, #"{"access_token":"","expires_in":60}"#,
            #"{"access_token":"a\nb","expires_in":60}"#, #"{"access_token":"a","expires_in":0}"#,
            #"{"access_token":7,"expires_in":60}"#,
        ])
    func noToken(body: String) { #expect(refusal(200, body)?.isForGood == false) }

    @Test(
        "a refusal of the account is for good, and trouble of the endpoint is not",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, true), (401, #"{"error":"invalid_client"}"#, true),
            (400, #"{"error":"invalid_scope"}"#, true), (403, "", true), (404, "<html></html>", true), (302, "", true),
            (429, "", false), (500, "", false), (502, "<html></html>", false),
            (503, #"{"error":"temporarily_unavailable"}"#, false),
            (400, #"{"error":"internal_failure"}"#, false),
        ])
    func kinds(status: Int, body: String, isForGood: Bool) { #expect(refusal(status, body)?.isForGood == isForGood) }

    @Test("a refused grant speaks of the clock when Google's description does, else of the key")
    func hints() {
        let clock = #"{"error":"invalid_grant","error_description":"Check your iat and exp values in the JWT claim."}"#
        let key = #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#
        #expect(refusal(400, clock)?.reason.contains("clock") == true)
        #expect(refusal(400, key)?.reason.contains("clock") == false)
        #expect(refusal(400, key)?.reason.contains("key") == true)
    }

    @Test("a refusal repeats no text of the endpoint but its word, and keeps its pause")
    func words() {
        let refusal = refusal(503, #"{"error":"busy now","error_description":"assertion ey"}"#, retryAfter: "30")
        #expect(refusal?.reason == "the token endpoint answers status 503")
        #expect(refusal?.pause == .seconds(30))
    }
}
