import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

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

    @Test(
        "a browser's endpoint is a public place with https, also in an installation",
        arguments: [
            ("https://push.example.com/x", nil), ("https://push.example.com/x p256dh auth", nil),
            ("javascript:alert(1) p256dh auth", "absolute URL with https"), ("push.example.com", "absolute URL with https"),
            ("http://push.example.com/x", "use https"), ("https://127.0.0.1/x", "not public"),
            ("https://localhost/x", "not public"), ("https://[fd00::1]:8443/x", "not public"),
            ("https://10.1.2.3/x", "web-push-networks"),
        ])
    func browser(handle: String, reason: String?) throws {
        let id = try #require(RecordID("page"))
        let token = DeviceToken(canonical: handle)
        func detail(_ work: () throws -> Void) -> String? {
            do { try work() } catch { return (error as? ServiceError)?.detail }
            return nil
        }
        let found = [
            detail { _ = try DeviceUpsert(id: id, kind: .registration, platform: .browser, handle: token).checked(at: now) },
            detail { _ = try InstallationUpsert(id: id, platform: .browser, handle: token).checked() },
        ]
        for detail in found {
            if let reason { #expect(detail?.contains(reason) == true, "\(detail ?? "")") } else { #expect(detail == nil) }
        }
        #expect(
            try !isRefused {
                $0.platform = .adm; $0.handle = token
            })
    }

    @Test("an endpoint in a network that the operator names is taken, also by http")
    func browserOfNetwork() throws {
        let id = try #require(RecordID("page"))
        var limits = HubRequestLimits()
        limits.browsers = OutboundRule(networks: [try #require(AddressRange("127.0.0.0/8"))], setting: "web-push-networks")
        func check(_ handle: String) throws {
            _ = try InstallationUpsert(id: id, platform: .browser, handle: DeviceToken(canonical: handle)).checked(limits: limits)
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
