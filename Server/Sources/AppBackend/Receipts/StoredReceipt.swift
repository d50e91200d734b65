import Crypto
import RichPushModel
import WireText

/// A receipt with who sent it.
public struct StoredReceipt: Hashable, Sendable {
    public var receipt: Receipt
    public var user: UserID
    public var installation: InstallationID

    /// Creates a receipt.
    public init(receipt: Receipt, user: UserID, installation: InstallationID) {
        self.receipt = receipt
        self.user = user
        self.installation = installation
    }

    /// The same for every repeat: a hash of installation, notification, kind and action. None of them holds a line feed.
    public var key: String {
        let parts = [installation.text, receipt.richID.description, receipt.kind.rawValue, receipt.action ?? ""]
        return Hexadecimal.text(of: SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)))
    }
}
