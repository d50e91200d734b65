import Foundation
import RichPushModel
import Security
import Testing
import UIKit
import UserNotifications

@testable import RichPushApp
@testable import RichPushDevice
@testable import RichPushExtension

extension AppleFace {
    /// The troubles and acts of the delivery matrix, through the adapters that ship. Every block that the system hands over counts
    /// how often it is called, until nothing is under way any more.
    @Suite("A block of the system")
    @MainActor
    struct Completions {
        enum Trouble: String, CaseIterable {
            case online, slow, offline, unauthorized, missing, failing, wrongHash, tooLarge, hostileType
        }

        enum Act: String, CaseIterable { case tap, more, dismiss, ignore }

        struct Case: CustomTestStringConvertible {
            var trouble: Trouble
            var act: Act
            var testDescription: String { "\(trouble)-\(act)" }

            static let all = Trouble.allCases.flatMap { trouble in Act.allCases.map { Case(trouble: trouble, act: $0) } }
        }

        let phone: TestPhone
        private let clock = ManualClock()
        private let gate = Gate()

        init() throws { phone = try TestPhone() }

        @Test("is called once, whatever goes wrong and whatever comes afterwards", arguments: Case.all)
        func once(_ cell: Case) async throws {
            let delegate = try await phone.signedIn(clock: clock)
            phone.backend.begin(cell.trouble, gate)
            let content = try await runExtension(in: cell.trouble)
            FakeKeychain.shared.setOwnGroup("app")
            let result = await wake(delegate, in: cell.trouble)
            let options = await askToPresent(delegate)
            let response = cell.act == .ignore ? nil : await act(cell.act, delegate, in: cell.trouble)
            // What is late comes now.
            await gate.open()
            clock.advance(by: .seconds(300))
            await settle()
            #expect(content.values.count == 1)
            #expect(result.values.count == 1 && result.allOnMain)
            #expect(options.values.count == 1 && options.allOnMain)
            #expect(response.map { $0.values.count == 1 && $0.allOnMain } ?? true)
        }

        /// The content arrives or the time ends, and then the system says that the time ends.
        private func runExtension(in trouble: Trouble) async throws -> Answers<String> {
            let answers = Answers<String>()
            let service = try phone.launchExtension(clock: clock)
            let content = UNMutableNotificationContent()
            content.body = "You have a new message"
            content.userInfo = ["aps": ["alert": "x", "mutable-content": 1], "richId": "7"]
            service.didReceive(UNNotificationRequest(identifier: "remote", content: content, trigger: nil)) {
                answers.add($0.body)
            }
            #expect(await answered(in: trouble) { !answers.values.isEmpty })
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    service.serviceExtensionTimeWillExpire()
                    continuation.resume()
                }
            }
            return answers
        }

        private func wake(_ delegate: RichPushDelegate, in trouble: Trouble) async -> Answers<UInt> {
            let answers = Answers<UInt>()
            delegate.application(.shared, didReceiveRemoteNotification: TestPhone.payload(7)) {
                answers.add(UInt($0.rawValue))
            }
            #expect(await answered(in: trouble) { !answers.values.isEmpty })
            return answers
        }

        /// On a slow network time passes while a caller waits.
        private func answered(in trouble: Trouble, _ condition: @MainActor () -> Bool) async -> Bool {
            await soon {
                if trouble == .slow { clock.advance(by: .milliseconds(10)) }
                return condition()
            }
        }

        private func askToPresent(_ delegate: RichPushDelegate) async -> Answers<UInt> {
            let answers = Answers<UInt>()
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let content = UNMutableNotificationContent()
                    content.body = "You have a new message"
                    content.userInfo = TestPhone.payload(7)
                    let request = UNNotificationRequest(identifier: "remote", content: content, trigger: nil)
                    delegate.userNotificationCenter(.current(), willPresent: UNNotification(fake: request)) {
                        answers.add(UInt($0.rawValue))
                    }
                    continuation.resume()
                }
            }
            #expect(await soon { !answers.values.isEmpty })
            return answers
        }

        private func act(_ act: Act, _ delegate: RichPushDelegate, in trouble: Trouble) async -> Answers<Bool> {
            let action =
                switch act {
                case .tap, .ignore: UNNotificationDefaultActionIdentifier
                case .more: PushEnvelope.moreAction
                case .dismiss: UNNotificationDismissActionIdentifier
                }
            let answers = Answers<Bool>()
            let response = Task { _ = await respond(delegate, to: 7, action, counting: answers) }
            #expect(await answered(in: trouble) { !answers.values.isEmpty })
            await response.value
            return answers
        }
    }
}

extension ScriptedBackend {
    fileprivate func begin(_ trouble: AppleFace.Completions.Trouble, _ gate: Gate) {
        if trouble != .missing { store(7) }
        switch trouble {
        case .online, .missing: break
        case .slow: state.with { $0.gates["notifications/7$"] = gate }
        case .offline: setOffline(true)
        case .unauthorized: script { _ in .success(TransportResponse(status: 401)) }
        case .failing: script { _ in .success(TransportResponse(status: 500)) }
        case .wrongHash: state.with { $0.stored[id(7)]?.bytes = Samples.png(2) }
        case .tooLarge: state.with { $0.stored[id(7)]?.entry.content?.byteCount = 60 << 20 }
        case .hostileType: store(7, bytes: Data("<html><script>alert(1)</script></html>".utf8))
        }
    }
}
