import PushHub
import RichPushModel
import ServiceErrors
import Testing

@testable import AppBackend

@Suite("Sends with an A/B test")
struct SplitTests {
    private static func change(_ request: inout SendRequest) {
        request.preview = .open
        request.split = SendSplit(key: "spring", groups: [.init(name: "A", percent: 40), .init(name: "B", percent: 40)])
        request.translations = [
            SendTranslation(group: "B", message: "Text of B"), SendTranslation(language: "sv", group: "B", message: "Text av B"),
        ]
    }

    private static let split = PushSplit(key: "spring", percents: [40, 40])

    /// Users with a phone each, by their group.
    private func users(_ test: TestBackend, _ count: Int) async throws -> [(principal: Principal, group: Int)] {
        var users: [(Principal, Int)] = []
        for number in 0..<count {
            let user = try await test.user("user-\(number)")
            let phone = try await test.install(user, "phone-\(number)", handle: number + 1, tags: [try #require(Tag("news"))])
            users.append((phone.principal, Self.split?.group(of: PushRecipient(user: user.name)) ?? -1))
        }
        return users
    }

    @Test("the hub gets the groups and the text of each")
    func command() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        _ = try await test.send(sender, to: "news", Self.change)
        let command = try #require(test.hub.sends.last?.command)
        #expect(command.split == Self.split)
        #expect(command.translations.map(\.key) == [TranslationKey(nil, group: 2), TranslationKey(LanguageTag("sv"), group: 2)])
        #expect(String(decoding: command.translations[0].body, as: UTF8.self).contains("Text of B"))
        #expect(!String(decoding: command.message.body, as: UTF8.self).contains("Text of B"))
    }

    @Test("a user reads what the user's group gets, in the inbox and by the number")
    func reading() async throws {
        let test = try await TestBackend()
        let users = try await users(test, 18)
        let sender = try await test.user("sender")
        let id = try await test.send(sender, to: "news", Self.change)
        var seen: Set<Int> = []
        for (principal, group) in users {
            let text = group == 2 ? "Text of B" : "Hello"
            #expect(try await test.backend.details(of: id, for: principal).message == text)
            #expect(try await test.backend.inbox(for: principal).notifications.map(\.message) == [text])
            seen.insert(group)
        }
        #expect(seen == [0, 1, 2])
        let swedish = try #require(users.first { $0.group == 2 }).principal
        let web = try await test.signIn(swedish.name.text)
        #expect(try await test.backend.details(of: id, accepting: "sv", for: web).message == "Text av B")
    }

    @Test("explain says in which group a user is, and in which language a device gets it")
    func explained() async throws {
        let test = try await TestBackend()
        let users = try await users(test, 18)
        let sender = try await test.user("sender")
        let id = try await test.send(sender, to: "news", Self.change)
        let root = try await test.admin()
        for (principal, group) in users {
            let found = try await test.backend.explain(id, toUser: principal.name.text, for: root)
            #expect(found.group == [nil, "A", "B"][group])
            #expect(found.devices.map(\.language) == [nil])
        }
        let (name, _) = try #require(users.first { $0.group == 2 })
        var update = InstallationUpdate(handle: Sample.handle(99))
        update.languages = ["sv"]
        _ = try await test.backend.putInstallation(
            id: try #require(InstallationID("swedish")), update: update, for: try await test.signIn(name.name.text))
        let other = try await test.send(sender, to: "\(Tag.user(name.name))", Self.change)
        let found = try await test.backend.explain(other, toUser: name.name.text, for: root)
        #expect(Set(found.devices.map(\.language)) == [nil, "sv"])
    }

    @Test("without a key chance decides anew in each send, and the same for a send that is repeated")
    func keys() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        var splits: [PushSplit?] = []
        for _ in 0..<2 {
            _ = try await test.send(sender, to: "news") {
                Self.change(&$0)
                $0.split?.key = nil
            }
            splits.append(test.hub.sends.last?.command.split)
        }
        #expect(splits[0] != nil && splits[0] != splits[1])
    }

    @Test("a message template keeps the groups, and a send from it may have others")
    func templates() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender", .admin)
        var base = SendRequest(message: "Hello {{name}}")
        Self.change(&base)
        base.translations?[0].message = "B for {{name}}"
        _ = try await test.backend.putMessageTemplate("sale", MessageTemplateRequest(base), for: sender)
        for key in ["spring", "autumn"] {
            _ = try await test.send(sender, to: "news") {
                $0.message = ""
                $0.template = TemplateUse(name: "sale", values: ["name": "Ann"])
                if key == "autumn" {
                    $0.split = SendSplit(key: key, groups: [.init(name: "B", percent: 1), .init(name: "A", percent: 2)])
                }
            }
            let command = try #require(test.hub.sends.last?.command)
            #expect(command.split?.stored == (key == "autumn" ? "1,2 autumn" : "40,40 spring"))
            #expect(command.translations.first?.key.group == (key == "autumn" ? 1 : 2))
            #expect(command.translations.first.map { String(decoding: $0.body, as: UTF8.self).contains("B for Ann") } == true)
        }
    }

    @Test("the status counts outcomes and receipts by group, with the rest as one without a name")
    func status() async throws {
        let test = try await TestBackend()
        let users = try await users(test, 18)
        let sender = try await test.user("sender")
        let id = try await test.send(sender, to: "news", Self.change)
        test.hub.countGroups([0: [.accepted: 2], 1: [.accepted: 3, .gone: 1], 2: [.accepted: 6]])
        for (principal, _) in users {
            for _ in 0..<2 {
                let receipts = [Receipt.Kind.delivered, .opened].map { Receipt(richID: id, kind: $0, at: test.clock.now) }
                try await test.backend.record(ReceiptBatch(receipts: receipts), for: principal)
            }
        }
        let groups = try #require(try await test.backend.status(of: id, for: sender).groups)
        #expect(groups.map(\.name) == ["A", "B", nil])
        #expect(groups.map(\.percent) == [40, 40, 20])
        #expect(groups.map(\.outcomes) == [["accepted": 3, "gone": 1], ["accepted": 6], ["accepted": 2]])
        let expected = [1, 2, 0].map { group in users.count { $0.group == group } }
        #expect(groups.map { $0.receipts["opened", default: 0] } == expected)
        #expect(groups.map { $0.receipts["delivered", default: 0] } == expected)
        let plain = try await test.send(sender, to: "news")
        #expect(try await test.backend.status(of: plain, for: sender).groups == nil)
        let whole = try await test.send(sender, to: "news") {
            Self.change(&$0)
            $0.split?.groups[1].percent = 60
        }
        #expect(try await test.backend.status(of: whole, for: sender).groups?.map(\.percent) == [40, 60], "there is no rest")
    }

    @Test("groups that cannot be are refused, with the place of the mistake")
    func refused() async throws {
        let test = try await TestBackend()
        let sender = try await test.user("sender")
        func detail(_ change: @escaping (inout SendRequest) -> Void) async -> String? {
            await refusal {
                _ = try await test.send(sender, to: "news") {
                    Self.change(&$0)
                    change(&$0)
                }
            }?.detail
        }
        #expect(await detail { $0.split?.groups = [] }?.hasPrefix("split.groups: it must be a list of 1 to 10") == true)
        #expect(await detail { $0.split?.groups[0].name = "a b" }?.hasPrefix("split.groups[0].name: it must be 1 to 32") == true)
        #expect(await detail { $0.split?.groups[1].name = "A" }?.hasPrefix("split.groups[1].name: it must be another") == true)
        #expect(await detail { $0.split?.groups[1].percent = 0 }?.hasPrefix("split.groups[1].percent") == true)
        #expect(await detail { $0.split?.groups[1].percent = 61 }?.contains("more than a hundred percent") == true)
        #expect(await detail { $0.split?.key = "a b" }?.hasPrefix("split.key: it must be") == true)
        #expect(
            await detail { $0.translations?[0].group = "C" } == "translations[0].group: it must be the name of a group of split")
        #expect(await detail { $0.translations?.removeFirst() } == "translations: the group B needs one without a language")
        #expect(
            await detail { $0.translations?[1].language = nil }
                == "translations[1].language: it must be another than those before")
        #expect(await detail { $0.split = nil }?.hasPrefix("translations[0].group") == true)
        test.hub.decidesNoMore()
        #expect(await detail { ($0.preview, $0.translations) = (.neutral, nil) }?.contains("hub elsewhere") == true)
    }

    @Test("a ticket opens the content of the group of its user")
    func content() async throws {
        let test = try await TestBackend()
        let users = try await users(test, 18)
        let sender = try await test.user("sender")
        let (own, other) = (
            try await test.store(Sample.png(byteCount: 600), sender), try await test.store(Sample.png(byteCount: 700), sender)
        )
        let id = try await test.send(sender, to: "news") {
            Self.change(&$0)
            $0.contentID = own
            $0.translations?[0].contentID = other
        }
        for (principal, group) in users {
            let issued = try await test.backend.issueTicket(for: id, variant: .original, for: principal)
            let found = try await test.backend.redeem(ticket: issued.ticket, for: id, variant: .original)
            #expect((found.descriptor.byteCount > 650) == (group == 2), "group \(group): \(found.descriptor.byteCount)")
        }
    }
}
