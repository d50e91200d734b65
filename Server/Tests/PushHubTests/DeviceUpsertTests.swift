import ClarionTesting
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing
import WebPushProtocol

import struct RichPushModel.Tag

@testable import PushHub

@Suite("Checks on a device")
struct DeviceUpsertTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func device(_ change: (inout DeviceUpsert) -> Void = { _ in }) throws -> DeviceUpsert {
        var device = DeviceUpsert(
            id: try #require(RecordID("phone")), kind: .installation, handle: DeviceToken("ab12", platform: .apns))
        change(&device)
        return device
    }

    private func isRefused(_ change: (inout DeviceUpsert) -> Void) throws -> Bool {
        do {
            _ = try device(change).checked(at: now)
            return false
        } catch let error as ServiceError {
            return error.code == .invalidField
        }
    }

    @Test("sixty tags are allowed, repeats in another case count once")
    func tags() throws {
        let sixty = (1...60).compactMap { Tag("t\($0)") }
        #expect(try device { $0.tags = sixty + [sixty[0], Tag("T1")!] }.checked(at: now).tags.map(\.text) == sixty.map(\.text))
        #expect(try isRefused { $0.tags = sixty + [Tag("one-more")!] })
    }

    @Test("no client can give a device the tags that address others")
    func addressing() throws {
        #expect(try isRefused { $0.tags = [Tag.addressing("$UserId:{ann}")!] })
        #expect(try isRefused { $0.tags = [Tag.installation(InstallationID("other")!)] })
    }

    @Test("a handle must be one of its platform")
    func handle() throws {
        #expect(try isRefused { $0.handle = DeviceToken(canonical: "xyz") })
        #expect(try isRefused { $0.handle = DeviceToken(canonical: "ab12") })
        #expect(try !isRefused { $0.handle = nil })
        #expect(
            try isRefused {
                $0.kind = .registration; $0.handle = nil
            })
        #expect(DeviceToken("ab1", platform: .apns) == nil)
        #expect(DeviceToken("", platform: .apns) == nil)
        #expect(DeviceToken("ab12", platform: .apns)?.text == "AB12")
    }

    private static func token(_ endpoint: String) -> String { SampleSubscription.token(endpoint) }

    private func refusal(_ work: () throws -> Void) -> String? {
        do { try work() } catch { return (error as? ServiceError)?.detail }
        return nil
    }

    @Test(
        "a browser has a subscription to which the server would send, also in an installation and as a tile",
        arguments: [
            (token("https://fcm.googleapis.com/x"), nil),
            ("https://fcm.googleapis.com/x", "it is not endpoint, p256dh and auth"),
            ("https://fcm.googleapis.com/x AAAA AAAA", "the key p256dh is not a point"),
            (token("javascript:alert(1)"), "the endpoint is not an absolute URL with https"),
            (token("https://push.example.com/x"), "web-push-hosts"),
            (token("http://fcm.googleapis.com/x"), "use https"),
        ])
    func browser(handle: String, reason: String?) throws {
        let id = try #require(RecordID("page"))
        let (token, good) = (DeviceToken(canonical: handle), DeviceToken(canonical: Self.token("https://fcm.googleapis.com/y")))
        let tiled = InstallationUpsert(id: id, platform: .browser, handle: good, tiles: ["t": .init(handle: token)])
        let found = [
            refusal { _ = try DeviceUpsert(id: id, kind: .registration, platform: .browser, handle: token).checked(at: now) },
            refusal { _ = try InstallationUpsert(id: id, platform: .browser, handle: token).checked() },
            refusal { _ = try tiled.checked() },
        ]
        for detail in found {
            if let reason { #expect(detail?.contains(reason) == true, "\(detail ?? "")") } else { #expect(detail == nil) }
        }
        #expect(
            try !isRefused {
                $0.platform = .adm; $0.handle = token
            })
    }

    @Test("what a browser is refused for is said without a part of its subscription")
    func quiet() throws {
        let id = try #require(RecordID("page"))
        for handle in [Self.token("https://push.example.com/secret"), Self.token("https://secret@a.example"), "secret"] {
            let token = DeviceToken(canonical: handle)
            let detail = refusal { _ = try InstallationUpsert(id: id, platform: .browser, handle: token).checked() }
            #expect(detail?.contains("secret") == false)
        }
    }

    @Test("a handle that the record has already is not judged again")
    func known() throws {
        let id = try #require(RecordID("page"))
        let stored = DeviceToken(canonical: "https://a.example/x p a")
        let other = DeviceToken(canonical: "https://b.example/x p a")
        func check(_ handle: DeviceToken) -> [String?] {
            [
                refusal {
                    _ = try DeviceUpsert(id: id, kind: .registration, platform: .browser, handle: handle)
                        .checked(at: now, known: [stored])
                },
                refusal { _ = try InstallationUpsert(id: id, platform: .browser, handle: handle).checked(known: [stored]) },
            ]
        }
        #expect(check(stored) == [nil, nil])
        #expect(!check(other).contains(nil))
    }

    @Test("an endpoint in a network that the operator names is taken, also by http")
    func browserOfNetwork() throws {
        let id = try #require(RecordID("page"))
        var limits = HubRequestLimits()
        limits.browsers = WebPushRule(
            hosts: ["127.0.0.1", "10.0.0.1"], networks: [try #require(AddressRange("127.0.0.0/8"))])
        func check(_ endpoint: String) throws {
            let handle = DeviceToken(canonical: Self.token(endpoint))
            _ = try InstallationUpsert(id: id, platform: .browser, handle: handle).checked(limits: limits)
        }
        try check("http://127.0.0.1:8080/x")
        #expect(throws: ServiceError.self) { try check("http://10.0.0.1/x") }
    }

    @Test("words that would end in headers are checked")
    func words() throws {
        #expect(try isRefused { $0.topic = "a\r\nb" })
        #expect(try isRefused { $0.environment = "staging" })
        #expect(try isRefused { $0.userID = "" })
        #expect(try isRefused { $0.expiresAt = now })
        #expect(
            try !isRefused {
                $0.topic = "com.example.app"; $0.environment = "sandbox"; $0.userID = "ann"
            })
    }

    @Test("an installation is addressed by its id and its user, a registration is not")
    func addressed() throws {
        var record = DeviceRecord(
            id: try #require(RecordID("Phone-1")), kind: .installation, handle: nil, userID: "ann", createdAt: now,
            registeredAt: now)
        #expect(record.matchingTags == Set(["$InstallationId:{Phone-1}", "$UserId:{ann}"].compactMap { Tag.stored($0) }))
        record.kind = .registration
        #expect(record.matchingTags.isEmpty)
    }
}
