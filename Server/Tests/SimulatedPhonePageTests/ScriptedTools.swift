import DeviceSimulation
import Foundation
import RichPushModel
import ServiceErrors
import SimulatedPhonePage

/// Tools that remember what was asked of them.
actor ScriptedTools: PhoneTools {
    private(set) var pushes: [(push: HandPush, phone: String)] = []
    private(set) var drafts: [SealedDraft] = []
    private(set) var retired: [String] = []
    private var faults: [String: PhoneFaults] = [:]
    var answer = HandPushAnswer(status: 200, apnsId: "id")

    nonisolated let samples = [
        PhoneSample(kind: .image, bytes: Data("picture".utf8), mediaType: "image/png", fileName: "p.png", altText: "A picture")
    ]

    func target(of phone: String) -> PushTarget {
        PushTarget(
            host: "127.0.0.1", port: 1, deviceToken: "ab", topic: "org.example.app", authorization: "bearer x",
            authorityPath: "/authority.pem")
    }

    func send(_ push: HandPush, to phone: String) -> HandPushAnswer {
        pushes.append((push, phone))
        return answer
    }

    func send(_ draft: SealedDraft) throws -> SealedDraftAnswer {
        drafts.append(draft)
        guard let id = RichID(number: 7) else { throw ServiceError(.notFound) }
        let answer = SendAnswer(id: id, trackingID: "t", readableBy: "nobody")
        return SealedDraftAnswer(answer, warnings: draft.users.contains("carol") ? ["carol has no phone"] : [])
    }

    func faults(of phone: String) -> PhoneFaults { faults[phone] ?? PhoneFaults() }

    func set(_ faults: PhoneFaults, of phone: String) { self.faults[phone] = faults }

    func retireToken(of phone: String) { retired.append(phone) }

    func refuse(_ answer: HandPushAnswer) { self.answer = answer }
}
