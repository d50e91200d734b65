import RichPushDevice
import RichPushModel

/// Tells what an engine did as steps of the phone's story.
struct StoryEventLog: EventLog {
    /// The process that the engine runs in.
    enum Role: String {
        case app, serviceExtension = "service extension"
    }

    /// As the engine says it.
    private static let foreign = "another-user"
    private static let locked = "\(StorageError.locked)"

    let story: PhoneStory
    let role: Role

    func record(_ event: DeviceEvent) {
        if event.kind == .storageFailed, event.detail["reason"] == Self.locked { return story.tellLocked(by: role.rawValue) }
        guard let (kind, title) = step(for: event) else { return }
        var detail = event.detail
        detail["by"] = role.rawValue
        story.tell(kind, event.richID, title, detail)
    }

    /// Says which of the receipts of a push the server has.
    private func receiptTitle(_ kind: String?) -> String {
        switch kind.flatMap(Receipt.Kind.init(rawValue:)) {
        case .delivered: "The server knows that the push was delivered"
        case .fetched: "The server knows that the content was fetched"
        case .opened: "The server knows that the user opened it"
        case .action: "The server knows which action the user chose"
        case .dismissed: "The server knows that the user dismissed it"
        case .failed: "The server knows that the content was not shown"
        case nil: "The server has a receipt"
        }
    }

    private func step(for event: DeviceEvent) -> (StoryStep.Kind, String)? {
        switch event.kind {
        case .fetched: (.fetched, "The content arrived; size, hash and type are right")
        case .fetchFailed: (.failed, "The content could not be fetched")
        case .presented: (.shown, "The app showed a local notification")
        case .presentFailed: (.failed, "The notification could not be shown")
        case .ignored where event.detail["reason"] == Self.foreign,
            .unchanged where event.detail["reason"] == Self.foreign:
            (.held, "The push says that it is for another user; nothing is fetched")
        case .unchanged: (.failed, "The service extension left the push as it was")
        case .offered: (.shown, "The app asks OK / More")
        case .opened: (.opened, "The user opened it")
        case .dismissed: (.dismissed, "The user dismissed it")
        case .receiptsSent: (.receipt, receiptTitle(event.detail["kind"]))
        case .undelivered: (.failed, "The user signed out, and this did not reach the server before")
        case .ignored: (.held, "The app ignored the push")
        case .repeated: (.held, "A repeat: nothing is shown twice")
        case .storageFailed: (.failed, "Something could not be kept on the phone")
        case .tagsRefused: (.failed, "The server refused the phone's tags; it has those that were taken before")
        case .signedIn, .signedOut, .registered, .registrationFailed, .enriched, .sent, .arrived: nil
        }
    }
}
