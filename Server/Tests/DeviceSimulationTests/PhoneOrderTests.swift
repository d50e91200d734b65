@testable import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("What is typed to a phone in a terminal")
struct PhoneOrderTests {
    private static let seven = RichID(number: 7)!

    static let lines: [(line: String, order: PhoneOrder?)] = [
        ("", nil), ("   ", nil), ("# a comment", nil),
        ("open", .open(nil)), ("  OPEN 7 ", .open(seven)), ("more 7", .more(seven)), ("dismiss", .dismiss(nil)),
        ("reply Yes, I will", .reply(nil, "Yes, I will")), ("reply 7 See  you", .reply(seven, "See  you")),
        ("reply 7", .reply(nil, "7")), ("send Look at  this", .act(.sendPush(.init(message: "Look at  this")))),
        ("ok", .act(.alertOK)), ("home", .act(.home)), ("app", .act(.openApp)), ("lock", .act(.lock)), ("unlock", .act(.unlock)),
        ("quit-app", .act(.terminate)), ("end-app", .act(.endApp)), ("restart", .act(.restart)), ("close", .act(.closeContent)),
        ("offline", .act(.setConnection(.offline))), ("slow", .act(.setConnection(.slow))),
        ("online", .act(.setConnection(.online))), ("permission off", .act(.setPermission(.denied))),
        ("permission on", .act(.setPermission(.granted))), ("alerts off", .act(.setAlerts(on: false))),
        ("focus on", .act(.setFocus(on: true))), ("low-power on", .act(.setLowPower(on: true))),
        ("budget off", .act(.setWakeBudget(on: false))), ("refresh off", .act(.setBackgroundRefresh(on: false))),
        ("refresh", .act(.refreshInbox)),
        ("previews off", .act(.setPreviews(whenUnlocked: true))), ("install", .act(.installApp)),
        ("remove", .act(.removeApp)), ("restore", .act(.restoreBackup)), ("sign-in", .signIn), ("sign-out", .act(.signOut)),
        ("token a.b.C", .act(.signInWithToken("a.b.C"))),
        ("inbox", .inbox), ("show", .show), ("help", .help), ("wait", .wait(1)), ("wait 3", .wait(3)), ("quit", .quit),
        ("exit", .quit), ("clear", .act(.clearNotifications)),
    ]

    @Test("is read", arguments: lines.indices)
    func reads(index: Int) throws {
        #expect(try PhoneOrder.parse(Self.lines[index].line) == Self.lines[index].order)
    }

    @Test(
        "or refused with the wrong word",
        arguments: [
            ("fly", "'fly'"), ("open seven", "'seven'"), ("open 1 2", "'1 2'"), ("open 0", "'0'"), ("reply", "reply TEXT"),
            ("send", "send TEXT"), ("token", "one sign-in token"), ("token a b", "one sign-in token"),
            ("wait 0", "1 to 1000"), ("wait long", "1 to 1000"), ("focus", "`on` or `off`"),
            ("focus maybe", "`on` or `off`"), ("lock now", "`lock` stands alone"),
        ])
    func refuses(line: String, message: String) {
        let error = #expect(throws: PhoneOrder.Fault.self) { try PhoneOrder.parse(line) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test("is printed without a token", arguments: ["token a.b.C", "  TOKEN a b"])
    func printable(line: String) { #expect(PhoneOrder.printable(line) == "token …") }

    @Test("is printed as it was typed otherwise", arguments: ["token", "reply token a.b.C", "open 7"])
    func plainly(line: String) { #expect(PhoneOrder.printable(line) == line) }

    @Test("every command of the help is one")
    func help() throws {
        for (command, _) in PhoneOrder.explanations {
            for word in command.split(separator: ",").flatMap({ $0.split(separator: "|") }) {
                let name = word.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
                // The second half of `on|off` is no word of its own.
                if name == "off" { continue }
                let candidates = [name, name + " on", name + " text"]
                #expect(candidates.contains { (try? PhoneOrder.parse($0)) != nil }, "\(name)")
            }
        }
    }

    @Test("means what is on the display: the newest without a number, the inbox when nothing is in the list")
    func actions() throws {
        var snapshot = PhoneSnapshot(phone: .init(id: "p", name: "p", model: "p"), time: Timestamp(seconds: 1))
        #expect(throws: PhoneOrder.Fault.self) { try PhoneOrder.open(nil).action(on: snapshot) }
        #expect(throws: PhoneOrder.Fault.self) { try PhoneOrder.open(Self.seven).action(on: snapshot) }
        let entry = InboxEntry(id: Self.seven, kind: .text, message: "m", sentAt: Timestamp(seconds: 1))
        snapshot.inbox = [.init(entry: entry, downloaded: true)]
        #expect(try PhoneOrder.open(Self.seven).action(on: snapshot) == .openInbox(Self.seven))
        for (id, number) in [("b", Int32(8)), ("a", 7)] {
            snapshot.notifications.append(
                .init(id: id, richID: RichID(number: number), title: "t", body: "b", at: Timestamp(seconds: 1)))
        }
        #expect(try PhoneOrder.open(nil).action(on: snapshot) == .tapNotification(id: "b"))
        #expect(try PhoneOrder.open(Self.seven).action(on: snapshot) == .tapNotification(id: "a"))
        #expect(try PhoneOrder.more(Self.seven).action(on: snapshot) == .moreNotification(id: "a"))
        #expect(try PhoneOrder.dismiss(nil).action(on: snapshot) == .dismissNotification(id: "b"))
        #expect(try PhoneOrder.reply(nil, "x").action(on: snapshot) == .replyNotification(id: "b", text: "x"))
        snapshot.alert = .init(richID: Self.seven, message: "m")
        #expect(try PhoneOrder.more(nil).action(on: snapshot) == .alertMore)
        #expect(try PhoneOrder.more(RichID(number: 8)).action(on: snapshot) == .moreNotification(id: "b"))
        #expect(try PhoneOrder.show.action(on: snapshot) == nil)
    }
}
