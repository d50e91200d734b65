import HubProtocol
import PushHub

extension IfMatch? {
    /// The condition in the hub's words. A text that is no version matches none.
    var precondition: DevicePrecondition {
        switch self {
        case nil: .none
        case .any: .exists
        case .some(let tag): .version(tag.version ?? -1)
        }
    }
}
