import RichPushModel

/// What a developer does beside the phones: pushes by hand, notifications that are sealed before they are sent, and faults. A
/// composition gives it to the page; without it the page shows phones alone.
public protocol PhoneTools: Sendable {
    /// What can be sent without looking for a file.
    var samples: [PhoneSample] { get }

    /// Where a push to this phone goes. Throws `ServiceError`.
    func target(of phone: String) async throws -> PushTarget

    /// Sends a push through the local APNs and returns what that answered, a refusal included. Throws `ServiceError`.
    func send(_ push: HandPush, to phone: String) async throws -> HandPushAnswer

    /// Seals a notification here, as its sender, and sends it through the app backend; returns who cannot open it, too. Throws
    /// `ServiceError`.
    func send(_ draft: SealedDraft) async throws -> SealedDraftAnswer

    /// What goes wrong for this phone now.
    func faults(of phone: String) async -> PhoneFaults

    /// Lets other things go wrong from now on. Throws `ServiceError`.
    func set(_ faults: PhoneFaults, of phone: String) async throws

    /// APNs declares the phone's device token dead: later pushes to it are answered 410, and the app has a new one at its next
    /// start.
    func retireToken(of phone: String) async throws
}
