import ClarionTesting
import CryptoExtras
import FCMDelivery
import FCMProtocol
import Foundation
import PushHub
import RichPushModel
import Synchronization

/// FCM and the token endpoint of a test. Gives a new token at each request and takes every message, unless a test says otherwise.
final class ScriptedFCM: FCMSending {
    static let tokenURL = FCMServiceAccount.googleTokenURL

    /// What a message is answered with, by the text of its body and the number of requests before it.
    typealias Answer = @Sendable (_ body: String, _ count: Int) -> FCMReply

    private struct State {
        var messages: [FCMRequest] = []
        var deadlines: [Duration] = []
        var tokens = 0
        var tokenDeadlines: [Duration] = []
        var tokenReply: @Sendable (Int) -> FCMReply = { ScriptedFCM.token($0) }
        var answer: Answer = { _, _ in ScriptedFCM.status(200) }
        var underWay = 0
        var mostAtOnce = 0
    }

    /// Messages wait here for their answers, and requests for tokens there.
    let gate = Gate()
    let tokenGate = Gate()
    private let state = Mutex(State())

    var messages: [FCMRequest] { state.withLock { $0.messages } }
    var bodies: [String] { messages.map { String(decoding: $0.body, as: UTF8.self) } }
    var deadlines: [Duration] { state.withLock { $0.deadlines } }
    var tokens: Int { state.withLock { $0.tokens } }
    var tokenDeadlines: [Duration] { state.withLock { $0.tokenDeadlines } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func follow(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    func followTokens(_ reply: @escaping @Sendable (Int) -> FCMReply) { state.withLock { $0.tokenReply = reply } }

    /// The token with this number.
    static func token(_ number: Int, life: Int = 3_600) -> FCMReply {
        status(200, #"{"access_token":"token-\#(number)","expires_in":\#(life)}"#)
    }

    static func status(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> FCMReply {
        .answered(FCMAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8), now: Timestamp(seconds: 0)))
    }

    /// An error with FCM's own code, and the field that it complains of.
    static func error(_ status: Int, _ code: String, field: String? = nil, retryAfter: String? = nil) -> FCMReply {
        let violation = field.map {
            #",{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#($0)"}]}"#
        }
        let detail = #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
        return self.status(
            status, #"{"error":{"code":\#(status),"details":[\#(detail)\#(violation ?? "")]}}"#, retryAfter: retryAfter)
    }

    func post(_ request: FCMRequest, within deadline: Duration) async -> FCMReply {
        guard request.url != Self.tokenURL else {
            let (number, reply) = state.withLock { state in
                state.tokens += 1
                state.tokenDeadlines.append(deadline)
                return (state.tokens, state.tokenReply)
            }
            await tokenGate.pass()
            return Task.isCancelled ? .unknown(reason: "cancelled") : reply(number)
        }
        let (count, answer) = state.withLock { state in
            defer { state.messages.append(request) }
            state.deadlines.append(deadline)
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return (state.messages.count, state.answer)
        }
        await gate.pass()
        await Task.yield()
        state.withLock { $0.underWay -= 1 }
        return answer(String(decoding: request.body, as: UTF8.self), count)
    }
}

/// Accounts of a test, by the number of the hub; each has a key, since one takes long to make.
struct ScriptedAccounts: FCMCredentials {
    // The library makes a key of this size whenever it is asked; without one no test here means anything.
    private static let key = try! _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation

    var none: PushOutcome?

    static func account(_ name: String = "a", project: String = "shop-1234") -> FCMServiceAccount {
        // The values are the three constants of this file, of a form that every test of an account takes.
        try! FCMServiceAccount(projectID: project, privateKey: key, clientEmail: "\(name)@example.com")
    }

    func credential(for hub: HubID) async -> FCMCredential {
        none.map { .none($0) } ?? .account(Self.account("hub\(hub.number)"))
    }
}
