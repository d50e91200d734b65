import RichPushModel
import SQLStorage
import ServerSettings

/// Notices when no node that sends is there: what is accepted then is kept and waits, and nothing else would say why.
struct SendersWatch {
    /// What an operator is told.
    enum News: Hashable {
        /// Nobody sends.
        case gone
        /// Somebody does again.
        case back
    }

    /// Nodes are started and replaced one after the other; that is no news.
    private let patience: Duration
    /// Since when nobody sends; `nil` while somebody does.
    private var since: Timestamp?
    private var isTold = false

    /// - Parameter patience: how long nobody may send before it is news.
    init(patience: Duration) { self.patience = patience }

    /// Takes note of who was there at a moment, and answers what is new.
    mutating func saw(_ present: [NodeMember], at moment: Timestamp) -> News? {
        // A role that this version does not know is one of a newer version, which may send.
        let isAnybody = present.contains { NodeRole(rawValue: $0.role)?.dispatches ?? true }
        if isAnybody {
            defer { (since, isTold) = (nil, false) }
            return isTold ? .back : nil
        }
        let began = since ?? moment
        since = began
        guard !isTold, moment - began >= patience else { return nil }
        isTold = true
        return .gone
    }
}
