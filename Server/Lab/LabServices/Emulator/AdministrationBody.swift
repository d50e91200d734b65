import HTTPService
import Hummingbird
import ServiceErrors

/// The body of a request to the administration. A field that it does not have is refused: a typing error would test something else
/// than was meant, and pass.
protocol AdministrationBody: Decodable, Sendable {
    static var fields: Set<String> { get }
}

extension Request {
    /// Throws `unsupported-media-type`, `payload-too-large`, `malformed-json` and `invalid-field`.
    func readStrictly<Body: AdministrationBody>(_ type: Body.Type) async throws -> Body {
        try JSONFields.decode(type, from: await jsonBytes(), known: type.fields)
    }
}
