/// The paths of the app backend, written once for server and phone. Ids are already validated, so nothing is escaped.
public enum APIRoute {
    /// Everything but the rich push tutorial's frozen calls is described under this prefix; `/api` serves the same.
    public static let prefix = "/api/v1"

    /// `POST` sends, `GET` lists the inbox.
    public static let notifications = prefix + "/notifications"
    /// `GET` and `HEAD`: the content bytes; `PATCH`: read state; `DELETE`: recall.
    public static func notification(_ id: RichID) -> String { "\(notifications)/\(id)" }
    /// `GET`: the `InboxEntry`.
    public static func details(_ id: RichID) -> String { "\(notifications)/\(id)/details" }
    /// `GET`: the `SendStatus`, for the sender.
    public static func status(_ id: RichID) -> String { "\(notifications)/\(id)/status" }
    /// `GET`: a `SendList`, of the caller's sends or, for an administrator, of all.
    public static let sends = prefix + "/sends"
    /// `POST`: a short-lived link to the content for players that cannot send a header.
    public static func ticket(_ id: RichID) -> String { "\(notifications)/\(id)/ticket" }
    /// `POST`: a `Reply`, which goes to whoever sent the notification.
    public static func replies(_ id: RichID) -> String { "\(notifications)/\(id)/replies" }
    /// `POST`: a `ReceiptBatch`.
    public static let receipts = prefix + "/receipts"
    /// `POST`: content to be sent later.
    public static let content = prefix + "/content"
    /// `GET`: a `DeviceList`.
    public static let installations = prefix + "/installations"
    /// `PUT`: an `InstallationUpdate`; `DELETE`: signs the installation out.
    public static func installation(_ id: InstallationID) -> String { "\(installations)/\(id)" }
    /// `GET`: a `SealingDirectory`, what a sender needs to seal for some users.
    public static let sealing = prefix + "/sealing"
    /// `GET`: the signed-in user.
    public static let me = prefix + "/me"
}
