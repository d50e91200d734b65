import RichPushDevice

extension RichPushError {
    /// What went wrong, for the user and in the user's language. What the server said in its own words is left in those.
    public var sentence: String {
        switch self {
        case .notSignedIn, .credentialRejected, .passwordNotKept: Words.notSignedIn.text
        case .badUserName, .wrongPassword: Words.wrongPassword.text
        case .offline, .timedOut, .serverBusy, .serverFailed, .busy, .claimed: Words.offline.text
        case .notFound: Words.unavailable.text
        case .recalled: Words.gone.text
        case .refused(let problem): problem.detail ?? (problem.status == 403 ? Words.unavailable : Words.refused).text
        case .badTag: Words.refused.text
        case .badAnswer, .badRedirect: Words.notUnderstood.text
        case .contentMismatch, .badMediaType: Words.mismatch.text
        case .tooLarge: Words.tooLarge.text
        case .notSealedForThisDevice, .sealBroken: Words.sealed.text
        case .storage: Words.storage.text
        }
    }
}
