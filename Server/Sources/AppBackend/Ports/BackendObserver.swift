import PushHub
import RichPushModel

/// Is told what happens, for a story that people watch. It must return at once and gets no content.
public protocol BackendObserver: Sendable {
    /// Called after the fact.
    func observed(_ event: BackendEvent)
}

/// Something that happened in the app backend.
public enum BackendEvent: Hashable, Sendable {
    /// A notification is stored, since `at`, and the hub has taken it.
    case accepted(
        RichID, trackingID: NotificationID, sender: UserName, kind: ContentKind, style: DeliveryStyle, at: Timestamp)
    case recalled(RichID)
    /// A receipt was recorded for the first time.
    case receipt(Receipt, user: UserName, installation: InstallationID)
    /// A device was bound to a user.
    case registered(RecordID, user: UserName)
    /// A device was signed out.
    case signedOut(RecordID, user: UserName)
}
