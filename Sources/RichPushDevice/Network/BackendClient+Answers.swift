import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BackendClient {
    /// The answer of a transport, or the error that stands for its absence.
    static func response(
        _ outcome: Result<TransportResponse, TransportError>?
    ) throws(RichPushError) -> TransportResponse {
        switch outcome {
        case .success(let response)?: return response
        case nil, .failure(.timedOut)?, .failure(.cancelled)?: throw .timedOut
        case .failure(.unreachable)?: throw .offline
        case .failure(.tooLarge)?: throw .tooLarge
        case .failure(.fileNotWritable)?: throw .storage(.failed)
        }
    }

    /// Throws unless the status is 2xx.
    static func check(_ response: TransportResponse, _ authorization: Authorization) throws(RichPushError) {
        switch response.status {
        case 200..<300: return
        case 300..<400: throw .badRedirect
        case 401: throw authorization.refusal
        case 404, 410: throw missing(response)
        case 408, 425, 429, 503: throw .serverBusy(retryAfter: retryAfter(response))
        case 500...: throw .serverFailed(response.status)
        default: throw .refused(problem(response))
        }
    }

    /// Things are deleted because the server has them no longer, so that is believed only in its own words: what stands before a
    /// server, while that is exchanged for another, says 404 too.
    private static func missing(_ response: TransportResponse) -> RichPushError {
        guard let problem = try? JSONDecoder().decode(Problem.self, from: response.body) else {
            return .serverFailed(response.status)
        }
        return ["not-found", "registration-gone"].contains(problem.code) ? .notFound : .refused(problem)
    }

    /// Seconds only; at most an hour is believed.
    private static func retryAfter(_ response: TransportResponse) -> Duration? {
        response.headers["retry-after"].flatMap { Int64($0) }.map { .seconds(min(max($0, 0), 3600)) }
    }

    private static func problem(_ response: TransportResponse) -> Problem {
        (try? JSONDecoder().decode(Problem.self, from: response.body))
            ?? Problem(
                type: "about:blank", title: "The server refused the request", status: response.status, detail: nil,
                code: "http-\(response.status)")
    }
}
