import ServiceEmulation

/// One connection over HTTP/1.1.
final class FCMHTTP1Handler: LocalHTTPHandler {
    private let service: LocalFCM

    init(service: LocalFCM) {
        self.service = service
        super.init(clock: service.clock, keptBody: GoogleRequest.largestBody, readBody: 4 * GoogleRequest.largestBody)
    }

    override func serve(_ request: GoogleRequest) {
        let verdict = service.handle(request)
        switch verdict.fault {
        case .delay(let milliseconds): wait(.milliseconds(milliseconds)) { $0.send(verdict.answer) }
        case .goAway(processed: true):
            isKeptAlive = false
            send(verdict.answer)
        case .goAway(processed: false), .resetStream, .loseAnswer: close()
        case .stall: break
        case .halfAnswer: send(verdict.answer, isWhole: false)
        case .tooManyRequests, .unavailable, .serverError, .badGateway, .refusal, .revokeTokens, nil: send(verdict.answer)
        }
    }
}

extension LocalHTTPHandler {
    fileprivate func send(_ answer: GoogleAnswer, isWhole: Bool = true) {
        send(status: answer.status, headers: answer.headers, body: answer.body, isWhole: isWhole)
    }
}
