import APNsEmulation
import Crypto
import Foundation
import HTTPService
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOPosix
import RichPushModel
import ServiceErrors
import Testing

@testable import LabServices

@Suite("Administration of the local APNs over HTTP")
struct EmulatorAdministrationTests: AdministrationCalling {
    @Test("every rule has a switch, and what a switch reads it can write")
    func everyRule() throws {
        let properties = Mirror(reflecting: EmulationRules()).children.compactMap(\.label)
        #expect(Set(properties) == Set(RuleSwitch.byName.keys))
        var rules = EmulationRules()
        for known in RuleSwitch.all {
            let value = known.read(rules)
            try known.set(value, in: &rules)
            #expect(known.read(rules) == value, "\(known.name)")
            let json = try JSONEncoder().encode([value])
            #expect(try JSONDecoder().decode([RuleValue].self, from: json) == [value])
        }
        #expect(rules == EmulationRules())
    }

    @Test("rules change together or not at all")
    func rules() async throws {
        try await withAdministration { apns, client in
            let good =
                #"{"errorBudget":7,"answerDelay":40,"overLimit":"goAway","#
                + #""deviceRate":{"count":2,"seconds":9},"idleLimit":null}"#
            #expect(try await send(client, .patch, "/rules", good).status == .noContent)
            #expect(apns.rules.errorBudget == 7)
            #expect(apns.rules.answerDelay == .milliseconds(40))
            #expect(apns.rules.idleLimit == nil)
            #expect(apns.rules.overLimit == .goAway)
            #expect(apns.rules.deviceRate == .init(count: 2, seconds: 9))
            let wrong = [
                #"{"errorBudget":9,"overLimit":"explode"}"#, #"{"errorBudget":9,"noSuchRule":1}"#, #"{"errorBudget":"x"}"#,
            ]
            for bad in wrong {
                #expect(try await send(client, .patch, "/rules", bad).status == .badRequest)
            }
            #expect(apns.rules.errorBudget == 7)
            let shown = try await send(client, .get, "/rules")
            let values = try JSONDecoder().decode([String: RuleValue].self, from: Data(shown.body.readableBytesView))
            #expect(values["errorBudget"] == .number(7) && values["overLimit"] == .text("goAway"))
        }
    }

    @Test(
        "every kind of fault can be ordered",
        arguments: [
            (#"{"status":503,"reason":"ServiceUnavailable"}"#, InjectedFault.status(503, .serviceUnavailable)),
            (#"{"kind":"delay","milliseconds":40}"#, .delay(.milliseconds(40))), (#"{"kind":"noAnswer"}"#, .noAnswer),
            (#"{"kind":"blackHole"}"#, .blackHole), (#"{"kind":"wedge","processed":false}"#, .wedge(processed: false)),
            (#"{"kind":"refuseStream"}"#, .refuseStream), (#"{"kind":"shutdown"}"#, .shutdown),
            (#"{"kind":"resetStream","code":11}"#, .resetStreamWithCode(11, processed: true)),
            (#"{"kind":"streamLimit","streams":1}"#, .streamLimit(1)),
            (
                #"{"kind":"settings","streams":2,"initialWindowSize":0,"maximumFrameSize":20000}"#,
                .settings(SettingsChange(streams: 2, initialWindowSize: 0, maximumFrameSize: 20_000))
            ),
            (#"{"kind":"closeConnection"}"#, .closeConnection(processed: true)),
            (#"{"kind":"resetConnection","processed":false}"#, .resetConnection(processed: false)),
            (
                #"{"kind":"goAway","lastStream":"twoStepBefore","reason":"Shutdown","times":2}"#,
                .goAwayFrame(
                    GoAwayForm(lastStream: .twoStepBeforeThisRequest, debugData: #"{"reason":"Shutdown"}"#, times: 2))
            ),
            (
                #"{"kind":"goAway","lastStreamId":5,"code":7,"text":"plain","leavesConnectionOpen":true}"#,
                .goAwayFrame(GoAwayForm(lastStream: .stream(5), code: 7, debugData: "plain", leavesConnectionOpen: true))
            ),
        ])
    func faults(json: String, fault: InjectedFault) throws {
        #expect(try FaultDocument.read(Array(json.utf8)).fault() == fault)
    }

    @Test(
        "a fault that makes no sense is refused",
        arguments: [
            #"{"kind":"explode"}"#, #"{"status":200,"reason":"x"}"#, #"{"status":503}"#, #"{"kind":"delay"}"#,
            #"{"kind":"goAway","lastStream":"never"}"#, #"{"kind":"refuseStream","count":0}"#,
            #"{"kind":"refuseStream","every":0}"#, #"{"kind":"settings"}"#, #"{"kind":"settings","maximumFrameSize":1}"#,
            #"{"kind":"refuseStream","after":-1}"#,
        ])
    func badFaults(json: String) async throws {
        try await withAdministration { _, client in
            let answer = try await send(client, .post, "/faults", json)
            #expect(answer.status == .badRequest)
        }
    }

    @Test("a client certificate is issued, and refused for what is no topic")
    func certificates() async throws {
        try await withAdministration { apns, client in
            let issued = try await send(
                client, .post, "/certificates", #"{"bundleId":"org.example.app","environments":["sandbox"]}"#)
            #expect(issued.status == .created)
            #expect(String(buffer: issued.body).contains("BEGIN CERTIFICATE"))
            for bad in [#"{"bundleId":"no topic"}"#, #"{"bundleId":"org.example.app","environments":["moon"]}"#] {
                #expect(try await send(client, .post, "/certificates", bad).status == .badRequest)
            }
            withExtendedLifetime(apns) {}
        }
    }

    @Test("apps with the broadcast capability, subscriptions, actions and records are reached")
    func others() async throws {
        try await withAdministration { apns, client in
            let app = try await send(client, .put, "/apps/org.example.app", #"{"teamId":"LOCALTEAM0","broadcasts":true}"#)
            #expect(app.status == .noContent)
            let channel = try apns.createChannel(bundleID: "org.example.app", policy: .mostRecent)
            let follow = #"{"bundleId":"org.example.app","channelId":"\#(channel)"}"#
            #expect(try await send(client, .post, "/devices/phone/channels", follow).status == .noContent)
            let wrong = #"{"bundleId":"org.example.app","channelId":"AAAA"}"#
            #expect(try await send(client, .post, "/devices/phone/channels", wrong).status == .badRequest)
            #expect(try await send(client, .delete, "/devices/phone/channels", follow).status == .noContent)
            for action in ["goAway", "reset", "drop", "wedge", "blackHole"] {
                let status = try await send(client, .post, "/connections", #"{"action":"\#(action)"}"#).status
                #expect(status == .noContent)
            }
            #expect(try await send(client, .post, "/connections", #"{"action":"limit"}"#).status == .badRequest)
            #expect(try await send(client, .post, "/provider-tokens/expire", #"{"issuedBefore":1}"#).status == .noContent)
            for record in ["/requests", "/frames", "/traffic", "/complaints", "/deliveries"] {
                #expect(try await send(client, .get, record).status == .ok)
            }
            #expect(try await send(client, .get, "/deliveries/none").status == .badRequest)
        }
    }

    @Test("an issued certificate is revoked in openssl's spelling, and an unknown serial number is not found")
    func revocation() async throws {
        try await withAdministration { apns, client in
            let issued = try apns.issueClientCertificate(ClientCertificateRequest(bundleID: "org.example.app"))
            #expect(try await send(client, .delete, "/certificates/0123456789").status == .notFound)
            #expect(try await send(client, .delete, "/certificates/00\(issued.serialNumber.lowercased())").status == .noContent)
        }
    }

    @Test("a pause that is no pause is refused", arguments: ["-1", "4611686018427387904"])
    func badPause(pause: String) async throws {
        try await withAdministration { _, client in
            let body = #"{"action":"goAway","pauseMilliseconds":\#(pause)}"#
            let answer = try await send(client, .post, "/connections", body)
            #expect(answer.status == .badRequest)
        }
    }

    @Test("records can be cleared", arguments: ["/requests", "/frames", "/complaints", "/deliveries"])
    func clearing(record: String) async throws {
        try await withAdministration { _, client in
            let answer = try await send(client, .delete, record)
            #expect(answer.status == .noContent)
        }
    }

    @Test("half of an authority is not replaced silently", arguments: ["authority.pem", "authority-key.pem"])
    func halfAuthority(missing: String) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "emulator-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try EmulatorFolder(path: path, now: SystemClock().now)
        try FileManager.default.removeItem(atPath: path + "/" + missing)
        #expect(throws: ServiceError.self) { try EmulatorFolder(path: path, now: SystemClock().now) }
        #expect(!FileManager.default.fileExists(atPath: path + "/" + missing))
    }
}
