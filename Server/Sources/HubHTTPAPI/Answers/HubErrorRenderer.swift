import HTTPService
import HTTPTypes
import HubProtocol
import RichPushModel
import ServiceErrors

/// Errors as the hub protocol has them (Reference/AzureNotificationHubs.md#6-2): a small XML body whose detail clients show to
/// people.
struct HubErrorRenderer: ErrorRenderer {
    let clock: any ServiceClock

    var challenge: String { "SharedAccessSignature" }

    func render(_ error: ServiceError, entry: ErrorTableEntry, requestID: String) -> (mediaType: String, body: [UInt8]) {
        let body = ErrorBody(
            code: status(of: error, entry: entry).code, detail: error.detail ?? entry.title,
            subCode: Self.subCode(error.code), trackingID: requestID, at: clock.now)
        return ("application/xml; charset=utf-8", Array(body.answer().utf8))
    }

    /// 401 for bad tokens, and 403 for a valid one without the right, as the service itself answers since 2022
    /// (Reference/AzureNotificationHubs.md#0-14): clients expect it, and the one that takes any other refusal for final until the
    /// app's next start works again once the right is given. Never with `Retry-After`, which would make it throttling to .NET.
    func status(of error: ServiceError, entry: ErrorTableEntry) -> HTTPResponse.Status {
        switch error.code {
        case .idempotencyMismatch: .conflict
        // A request for another host: two clients would take 403 for throttling and try again.
        case .crossSite: .badRequest
        default: entry.status
        }
    }

    /// The number that .NET looks for in the detail; those of tokens stand there already.
    private static func subCode(_ code: ServiceErrorCode) -> Int? {
        switch code {
        // The words alone are what clients know of an object that is not there.
        case .unauthenticated, .notFound, .unknownRoute: nil
        case .methodNotAllowed: 40500
        case .conflict: 40900
        case .registrationGone: 41000
        case .tooManyRequests, .tooManyAttempts: 42900
        case .forbidden, .quotaExceeded: 40300
        case .headersTooLarge, .payloadTooLarge, .contentTooLarge, .preconditionFailed, .requestTimeout: nil
        case .storageUnavailable, .outcomeUnknown, .notReady, .overloaded: 50004
        case .internal: 50000
        default: 40000
        }
    }
}
