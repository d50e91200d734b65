/// Why a phone did not do what it was asked. What the user would see of a failure (a wrong password, no network) is in the
/// snapshot instead.
public enum PhoneActionError: Error, Hashable, Sendable {
    /// There is nothing on the display that this action could touch, for example a tap on a notification that is gone.
    case notPossible(String)

    /// For people.
    public var sentence: String {
        switch self {
        case .notPossible(let reason): reason
        }
    }
}
