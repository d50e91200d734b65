import RichPushDevice
import RichPushModel

/// The app's send screen.
extension SimulatedPhone {
    func sendPush(_ draft: PhoneAction.PushDraft) async throws(PhoneActionError) {
        let engine = try visibleApp()
        guard !view.sending.busy else { throw .notPossible("The app is sending already") }
        view.sending = .init(busy: true)
        publish()
        story.tell(
            .send, nil, "The app asks the backend to send a push",
            draft.isEmpty ? ["body": "none, as in the rich push tutorial"] : ["style": draft.style?.rawValue ?? "default"])
        do throws(RichPushError) {
            let id = try await engine.sendPush(draft.isEmpty ? nil : try await request(for: draft, with: engine))
            story.tell(.accepted, id, "The app has the answer of the backend")
            if isRunning(engine) { view.sending = .init() }
        } catch {
            story.tell(.failed, nil, "The backend did not take the push", ["reason": error.code])
            if isRunning(engine) { view.sending = .init(busy: false, error: PhoneWords.sentence(for: error)) }
        }
        publish()
    }

    private func request(
        for draft: PhoneAction.PushDraft, with engine: any AppRole
    ) async throws(RichPushError) -> SendRequest {
        var request = SendRequest(message: draft.message ?? "Check this image out!")
        request.audience = draft.audience
        request.title = draft.title
        request.style = draft.style
        let kind = draft.kind ?? (configuration.samples[.image] == nil ? .text : .image)
        request.kind = kind
        if let sample = configuration.samples[kind] {
            request.contentID = try await engine.upload(
                sample.data, mediaType: sample.mediaType, fileName: sample.fileName
            ).id
            request.altText = sample.altText
        } else if kind == .link {
            request.link = "https://www.swift.org/documentation/"
        } else if kind == .coupon {
            request.coupon = Coupon(
                code: "CLARION-20", headline: "20 % off your next order", terms: "One for each person, in all shops.",
                validUntil: clock.now + .seconds(30 * 86_400))
        }
        return request
    }
}
