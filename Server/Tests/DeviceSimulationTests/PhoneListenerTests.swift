import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("Listeners of a phone")
struct PhoneListenerTests {
    @Test("listeners come and are cancelled while the phone records steps, and the phone goes on")
    func cancelled() async throws {
        let fixture = try PhoneFixture()
        let phone = fixture.phone
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<400 {
                        let listening = Task { for await _ in phone.updates() {} }
                        await Task.yield()
                        listening.cancel()
                    }
                }
                group.addTask {
                    for number in 0..<400 { phone.record(.delivered, richID: nil, title: "\(number)") }
                }
            }
        }
        #expect(phone.steps.count == 500)
        var updates = phone.updates().makeAsyncIterator()
        phone.record(.shown, richID: nil, title: "afterwards")
        var last: PhoneUpdate?
        while let update = await updates.next() {
            last = update
            if case .story(let step) = update, step.title == "afterwards" { break }
        }
        guard case .story(let step) = last else {
            Issue.record("nothing was heard")
            return
        }
        #expect(step.title == "afterwards")
    }
}
