import APNsEmulation
import Crypto
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import LabServices

/// A test of a client with a typing error would test something else, and pass.
@Suite("Typing errors in requests to the administration of the local APNs")
struct AdministrationTypingErrorTests: AdministrationCalling {
    static let tokens = "/devices/phone/tokens"

    @Test(
        "an unknown word is refused with a suggestion",
        arguments: [
            (HTTPRequest.Method.post, "/faults", #"{"statsu":503,"reason":"ServiceUnavailable"}"#, "statsu"),
            (.post, "/faults", #"{"status":503,"reason":"ServiceUnavailble"}"#, "did you mean ServiceUnavailable?"),
            (.post, "/faults", #"{"kind":"goaway"}"#, "did you mean goAway?"),
            (.post, "/faults", #"{"kind":"goAway","reason":"Shutdwon"}"#, "did you mean Shutdown?"),
            (.post, "/faults", #"{"kind":"delay","milliseconds":4,"status":503}"#, "'status' does not belong to 'delay'"),
            (.post, "/faults", #"{"kind":"noAnswer","processed":false}"#, "'processed' does not belong to 'noAnswer'"),
            (.post, "/faults", #"{"kind":"noAnswer","every":5,"after":2}"#, "'every' and 'after'"),
            (.post, "/faults", #"{"kind":"goAway","lastStream":"zero","lastStreamId":3}"#, "'lastStreamId' and 'lastStream'"),
            (.post, "/faults", #"{"kind":"goAway","reason":"Shutdown","text":"x"}"#, "'text' and 'reason'"),
            (.post, "/connections", #"{"action":"reset","streams":1}"#, "'streams' does not belong to 'reset'"),
            (.post, "/connections", #"{"action":"blackhole"}"#, "did you mean blackHole?"),
            (.post, "/connections", #"{"action":"goAway","reason":"Shutdwon"}"#, "did you mean Shutdown?"),
            (.post, "/provider-tokens/expire", #"{"issuedbefore":5}"#, "issuedbefore"),
            (.put, "/apps/org.example.app", #"{"teamId":"LOCALTEAM0","broadcast":true}"#, "broadcast"),
            (.put, "/keys/LOCALKEY09", #"{"teamId":"LOCALTEAM0","publicKey":"x","topic":["a"]}"#, "topic"),
            (.post, tokens, #"{"topic":"org.example.app","rotated":true}"#, "rotated"),
            (.post, "/devices/phone/channels", #"{"bundleId":"org.example.app","channelID":"AAAA"}"#, "channelID"),
            (.post, "/certificates", #"{"bundleId":"org.example.app","validDays":3}"#, "validDays"),
            (.patch, "/rules", #"{"errorBuget":3}"#, "did you mean errorBudget?"),
            (.patch, "/rules", #"{"deviceRate":{"count":2,"seconds":9,"minutes":1}}"#, "deviceRate"),
            (.put, "/apps/a%20b", #"{"teamId":"LOCALTEAM0"}"#, "a%20b is no bundle id"),
            (.put, "/apps/org.example.app.voip", #"{"teamId":"LOCALTEAM0"}"#, "without a suffix"),
            (.post, tokens, #"{"topic":"org.exmple.app"}"#, "no app of this bundle id is known"),
            (.post, "/faults", #"{"kind":"wedge","token":"zz"}"#, "no device token like this"),
            (.delete, "/devices/phone/channels", #"{"bundleId":"org.example.app","channelId":"AAAA"}"#, "no channel AAAA"),
            (.post, "/certificates", #"{"bundleId":"org.example.app","environments":[]}"#, "environments"),
            (.patch, "/rules", #"{"certificateTopicReason":"BadPath"}"#, "expected BadTopic or TopicDisallowed"),
            (.patch, "/rules", #"{"overLimit":"ignore"}"#, "expected refuseStream or goAway"),
            (.get, "/requests?limit=5", "", "this route takes none"),
            (.patch, "/rules", #"{"deviceRate":{"count":-2,"seconds":9}}"#, "deviceRate"),
        ])
    func refused(method: HTTPRequest.Method, path: String, body: String, message: String) async throws {
        try await withAdministration { apns, client in
            try apns.registerApp(bundleID: "org.example.app", teamID: "LOCALTEAM0")
            let before = apns.rules
            let answer = try await send(client, method, path, body)
            #expect(answer.status == .badRequest)
            let text = String(buffer: answer.body)
            #expect(text.contains(message), "\(text)")
            #expect(apns.rules == before)
        }
    }

    @Test("a key names topics and a related key that can be")
    func keys() async throws {
        try await withAdministration { (_, client) async throws in
            let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation.replacingOccurrences(of: "\n", with: "\\n")
            for (field, message) in [
                (#""relatedKeyId":"zz""#, "zz is no identifier"), (#""topics":["not a topic"]"#, "is no bundle id"),
            ] {
                let body = #"{"teamId":"LOCALTEAM0","publicKey":"\#(pem)",\#(field)}"#
                let answer = try await send(client, .put, "/keys/LOCALKEY09", body)
                #expect(answer.status == .badRequest)
                #expect(String(buffer: answer.body).contains(message))
            }
        }
    }

    @Test("a reason that Apple does not document is sent when it is said to be meant")
    func unlisted() async throws {
        try await withAdministration { (_, client) async throws in
            let fault = #"{"status":403,"reason":"SomethingNew","unlisted":true}"#
            #expect(try await send(client, .post, "/faults", fault).status == .noContent)
            let action = #"{"action":"goAway","reason":"SomethingNew","unlisted":true}"#
            #expect(try await send(client, .post, "/connections", action).status == .noContent)
        }
    }

    @Test("a device token dies by its own name and for a reason there is")
    func deadTokens() async throws {
        try await withAdministration { (apns, client) async throws in
            let token = apns.issueToken(device: "phone", topic: "org.example.app")
            for query in ["?reason=expird", "?noticedAfterSeconds=soon", "?noticedAfter=5"] {
                #expect(try await send(client, .delete, "/tokens/\(token)\(query)").status == .badRequest, "\(query)")
            }
            #expect(try await send(client, .delete, "/tokens/\(String(token.reversed()))").status == .notFound)
            // None of them killed it.
            #expect(apns.issueToken(device: "phone", topic: "org.example.app") == token)
            #expect(try await send(client, .delete, "/tokens/\(token)?reason=expired").status == .noContent)
            #expect(apns.issueToken(device: "phone", topic: "org.example.app") != token)
        }
    }

    @Test("every reason that a rule or a check can give is one that is documented")
    func documented() {
        for known in RuleSwitch.all {
            if case .text(let text) = known.read(EmulationRules()), text.first?.isUppercase == true {
                #expect((try? ReasonParser.reason(text)) != nil, "\(text)")
            }
        }
    }
}
