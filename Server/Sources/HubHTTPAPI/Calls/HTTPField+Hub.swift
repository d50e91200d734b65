import HTTPTypes
import HubProtocol

extension HTTPField.Name {
    static let trackingID = HTTPField.Name(SendHeaders.trackingIDName) ?? .via
    static let microsoftUserAgent = HTTPField.Name("x-ms-useragent") ?? .via
    static let correlationRequestID = HTTPField.Name("x-ms-correlation-request-id") ?? .via
    static let continuationToken = HTTPField.Name(ContinuationToken.headerName) ?? .via
}
